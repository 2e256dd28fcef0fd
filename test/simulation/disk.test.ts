import { expect, test } from 'vitest'
import { createDisk } from '../../src/simulation/disk.js'
import { namedStreams } from '../../src/simulation/random.js'

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

test('a loss of power keeps what was written, and of a sink what was closed', async () => {
  const disk = createDisk(() => 1, ['/work'])
  await disk.writeAtomic('/work/kept.txt', 'kept')
  const sink = await disk.createFile('/work/open.txt')
  await sink.write(new TextEncoder().encode('lost'))

  const left = disk.copy(() => 2)
  await sink.close()
  expect(text(await left.read('/work/kept.txt', 100))).toBe('kept')
  expect(text(await left.read('/work/open.txt', 100))).toBe('')
  expect(text(await disk.read('/work/open.txt', 100))).toBe('lost')
})

test('who watches hears of a change in its turn, and only below what is watched', async () => {
  const disk = createDisk(() => 1, ['/work/a', '/work/b'])
  const heard: string[] = []
  await disk.watch('/work/a', (paths) => heard.push(...paths))
  disk.watchFolder('/work/b', (name) => heard.push(`in b: ${name}`))
  await disk.writeAtomic('/work/a/deep/x', '1')
  await disk.writeAtomic('/work/b/y', '1')
  await disk.rename('/work/b/y', '/work/b/z')
  expect(heard).toEqual(['/work/a/deep', '/work/a/deep/x', 'in b: y', 'in b: y', 'in b: z'])
})

test('links are followed, and what is not there is told as the system does', async () => {
  const disk = createDisk(() => 1, ['/work'])
  await disk.writeAtomic('/work/real/file', 'x')
  await disk.makeLink('/work/link', 'real')
  expect(await disk.realPath('/work/link/file')).toBe('/work/real/file')
  await expect(disk.realPath('/work/nothing')).rejects.toMatchObject({ code: 'ENOENT' })
  await expect(disk.read('/work/real', 100)).rejects.toMatchObject({ code: 'request.unprocessable' })
})

test('one more draw from a stream shifts none of the others', () => {
  const [one, other] = [namedStreams(7), namedStreams(7)]
  one('a').next()
  expect(one('b').bytes(8)).toEqual(other('b').bytes(8))
  expect(one('b').bytes(8)).not.toEqual(other('a').bytes(8))
})
