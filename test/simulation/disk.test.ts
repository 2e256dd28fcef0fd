import { expect, test } from 'vitest'
import { createDisk } from '../../src/simulation/disk.js'
import { namedStreams } from '../../src/simulation/random.js'

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

test('a loss of power keeps what was written, and of a sink what was closed', async () => {
  const disk = createDisk(() => 1, ['/repo'])
  await disk.writeAtomic('/repo/kept.txt', 'kept')
  const sink = await disk.createFile('/repo/open.txt')
  await sink.write(new TextEncoder().encode('lost'))

  const left = disk.copy(() => 2)
  await sink.close()
  expect(text(await left.read('/repo/kept.txt', 100))).toBe('kept')
  expect(text(await left.read('/repo/open.txt', 100))).toBe('')
  expect(text(await disk.read('/repo/open.txt', 100))).toBe('lost')
})

test('who watches hears of a change in its turn, and only below what is watched', async () => {
  const disk = createDisk(() => 1, ['/repo/a', '/repo/b'])
  const heard: string[] = []
  await disk.watch('/repo/a', (paths) => heard.push(...paths))
  disk.watchFolder('/repo/b', (name) => heard.push(`in b: ${name}`))
  await disk.writeAtomic('/repo/a/deep/x', '1')
  await disk.writeAtomic('/repo/b/y', '1')
  await disk.rename('/repo/b/y', '/repo/b/z')
  expect(heard).toEqual(['/repo/a/deep', '/repo/a/deep/x', 'in b: y', 'in b: y', 'in b: z'])
})

test('links are followed, and what is not there is told as the system does', async () => {
  const disk = createDisk(() => 1, ['/repo'])
  await disk.writeAtomic('/repo/real/file', 'x')
  await disk.makeLink('/repo/link', 'real')
  expect(await disk.realPath('/repo/link/file')).toBe('/repo/real/file')
  await expect(disk.realPath('/repo/nothing')).rejects.toMatchObject({ code: 'ENOENT' })
  await expect(disk.read('/repo/real', 100)).rejects.toMatchObject({ code: 'request.unprocessable' })
})

test('a disk that is full, broken or read-only refuses what is written, and nothing has changed', async () => {
  const disk = createDisk(() => 1, ['/repo'])
  await disk.writeAtomic('/repo/kept', '1')
  for (const how of ['ENOSPC', 'EIO', 'EROFS'] as const) {
    disk.fail(how)
    await expect(disk.writeAtomic('/repo/kept', '2')).rejects.toMatchObject({ code: how })
    await expect(disk.createFile('/repo/new')).rejects.toMatchObject({ code: how })
  }
  disk.fail('ENOSPC')
  expect(text(await disk.read('/repo/kept', 100))).toBe('1')
  await disk.remove('/repo/kept')
  disk.fail('EIO')
  disk.place('/repo/other', '3')
  await expect(disk.read('/repo/other', 100)).rejects.toMatchObject({ code: 'EIO' })
  disk.fail(undefined)
  expect(text(await disk.read('/repo/other', 100))).toBe('3')
  expect(await disk.stat('/repo/new')).toBeUndefined()
})

test('one more draw from a stream shifts none of the others', () => {
  const [one, other] = [namedStreams(7), namedStreams(7)]
  one('a').next()
  expect(one('b').bytes(8)).toEqual(other('b').bytes(8))
  expect(one('b').bytes(8)).not.toEqual(other('a').bytes(8))
})
