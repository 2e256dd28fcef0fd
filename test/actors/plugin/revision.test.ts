// Holds plugin-protocol §1.5.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, renameSync, symlinkSync, truncateSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Effects } from '../../../src/ports/effects.js'
import { fingerprintPackage, hashPackage } from '../../../src/actors/plugin/package/revision.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { makeExecutable, writePackage } from '../../fakes/packages.js'

const effects = createFakeEffects()
let root: string
let count = 0
beforeEach(() => {
  root = join(effects.root, `package-${count++}`)
  mkdirSync(root)
})

const VECTOR = {
  'a/b': 'x',
  'a.txt': 'y',
  'agent.lua': 'return {}',
  empty: '',
  'lua/m/init.lua': 'z',
  'svc-plugin.json': '{"id":"dev.example.vec"}',
}
const VECTOR_REVISION = 'sha256:3e634eb1ce3e32572fd22ef1d3145d4026b61852e86e935c8f96ef3a1e3a8d8e'

describe('the revision of a package', () => {
  it('is that of the published vectors', async () => {
    writePackage(root, { f: 'A' })
    expect(await hashPackage(effects, root)).toEqual({
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
      isPlain: true,
      revision: 'sha256:6a1b3f24c9fd692c325060ab3b2f87c96adca5f03f6fbeb32036902b35a67e72',
      files: [{ path: 'f', size: 1, executable: false }],
      bytes: 1,
    })
    const second = writePackage(`${root}-vector`, VECTOR)
    const { revision, files, bytes } = await hashPackage(effects, second)
    expect(revision).toBe(VECTOR_REVISION)
    expect(files.map(({ path }) => path)).toEqual(['a/b', 'a.txt', 'agent.lua', 'empty', 'lua/m/init.lua', 'svc-plugin.json'])
    expect(bytes).toBe(36)
  })

  it('takes files in the order of their path components', async () => {
    writePackage(root, { 'a/b': '1', 'a-b/c': '2', 'a.txt': '3', A: '4', 'é/x': '5', '.hidden/z': '6', '\u{1f600}': '7', '\u{e000}': '8' })
    const { files, revision } = await hashPackage(effects, root)
    const order = ['.hidden/z', 'A', 'a/b', 'a-b/c', 'a.txt', 'é/x', '\u{e000}', '\u{1f600}']
    expect(files.map(({ path }) => path)).toEqual(order)
    expect(revision).toBe(
      expected(
        ['.hidden/z', '6'],
        ['A', '4'],
        ['a/b', '1'],
        ['a-b/c', '2'],
        ['a.txt', '3'],
        ['é/x', '5'],
        ['\u{e000}', '8'],
        ['\u{1f600}', '7'],
      ),
    )
  })

  it('leaves out modes, empty folders and special files, and opens none of these', async () => {
    writePackage(root, VECTOR)
    mkdirSync(join(root, 'hollow/inner'), { recursive: true })
    execFileSync('mkfifo', [join(root, 'fifo'), join(root, 'a/fifo')])
    makeExecutable(join(root, 'agent.lua'))
    const { revision, files } = await hashPackage(effects, root)
    expect(revision).toBe(VECTOR_REVISION)
    expect(files.filter(({ executable }) => executable)).toEqual([{ path: 'agent.lua', size: 9, executable: true }])
  })

  it.runIf(process.platform === 'linux')('replaces bytes of names that are no UTF-8, and orders by the bytes', async () => {
    const folder = Buffer.from(`${root}/`)
    writeFileSync(Buffer.concat([folder, Buffer.from([0x80, 0x61])]), '1')
    writeFileSync(Buffer.concat([folder, Buffer.from('é')]), '2')
    const { revision } = await hashPackage(effects, root)
    expect(revision).toBe(expected(['\u{fffd}a', '1'], ['é', '2']))
  })

  it('is refused for a package with a link anywhere, whatever it leads to', async () => {
    writePackage(root, { 'a/b': 'x' })
    for (const target of ['b', 'nowhere', '/etc']) {
      symlinkSync(target, join(root, 'a/link'))
      await expect(hashPackage(effects, root)).rejects.toMatchObject({
        code: 'plugin.invalid',
        message: `The package "${root}" cannot be hashed: "a/link" is a link, and links are not allowed: remove it, or put the file itself there.`,
      })
      await expect(fingerprintPackage(effects, root)).rejects.toMatchObject({ code: 'plugin.invalid' })
      unlinkSync(join(root, 'a/link'))
    }
    symlinkSync(root, `${root}-link`)
    await expect(hashPackage(effects, `${root}-link`)).rejects.toMatchObject({ code: 'plugin.invalid' })
  })

  it('is refused for a directory that is not there', async () => {
    await expect(hashPackage(effects, join(root, 'none'))).rejects.toMatchObject({ code: 'plugin.invalid' })
  })

  it('is refused when a file is replaced by a link or another file between finding and opening', async () => {
    writePackage(root, { victim: 'x' })
    writePackage(`${root}-outside`, { secret: 's' })
    const swap = (change: () => void, when: 'found' | 'read' = 'found'): Pick<Effects, 'files' | 'hasher'> => ({
      hasher: effects.hasher,
      files: {
        ...effects.files,
        async *walk(directory, options) {
          let changed = false
          for await (const entry of effects.files.walk(directory, options)) {
            if (when === 'read') yield entry
            if (!changed) change()
            changed = true
            if (when === 'found') yield entry
          }
        },
      },
    })
    const link = swap(() => {
      unlinkSync(join(root, 'victim'))
      symlinkSync(`${root}-outside/secret`, join(root, 'victim'))
    })
    await expect(hashPackage(link, root)).rejects.toMatchObject({ code: 'plugin.invalid' })
    unlinkSync(join(root, 'victim'))
    writePackage(root, { 'in/a': 'x', 'in/secret': 'x' })
    const folder = swap(() => {
      renameSync(join(root, 'in'), `${root}-moved`)
      symlinkSync(`${root}-outside`, join(root, 'in'))
    }, 'read')
    await expect(hashPackage(folder, root)).rejects.toMatchObject({ code: 'plugin.invalid' })
  })
})

describe('the limits of a package', () => {
  it('are 4096 files', async () => {
    for (let folder = 0; folder < 4; folder++) {
      writePackage(join(root, `d${folder}`), Object.fromEntries(Array.from({ length: 1024 }, (_, index) => [`f${index}`, ''])))
    }
    expect((await hashPackage(effects, root)).files).toHaveLength(4096)
    await fingerprintPackage(effects, root)
    writePackage(root, { z: '' })
    await expect(hashPackage(effects, root)).rejects.toMatchObject({
      code: 'plugin.invalid',
      message: expect.stringContaining('more than 4096 files'),
    })
    await expect(fingerprintPackage(effects, root)).rejects.toMatchObject({ code: 'plugin.invalid' })
  })

  it('are 64 MiB of content', async () => {
    writePackage(root, { small: 'abc', sparse: '' })
    truncateSync(join(root, 'sparse'), 64 * 1024 * 1024 - 3)
    expect((await hashPackage(effects, root)).bytes).toBe(64 * 1024 * 1024)
    truncateSync(join(root, 'sparse'), 64 * 1024 * 1024 - 2)
    await expect(hashPackage(effects, root)).rejects.toMatchObject({
      code: 'plugin.invalid',
      message: expect.stringContaining('more than 67108864 bytes'),
    })
  })

  it('count what is read, not what was announced', async () => {
    const lying: Pick<Effects, 'files' | 'hasher'> = {
      hasher: effects.hasher,
      files: {
        ...effects.files,
        async *walk() {
          const chunk = new Uint8Array(1024 * 1024)
          yield {
            path: 'endless',
            kind: 'file',
            size: 1,
            identity: '',
            changedMs: 0,
            executable: false,
            chunks: async function* () {
              for (;;) yield chunk
            },
          }
        },
      },
    }
    await expect(hashPackage(lying, root)).rejects.toMatchObject({ code: 'plugin.invalid' })
  })

  it('leave the event loop its turns', async () => {
    writePackage(root, Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`f${index}`, 'x'])))
    let sinceTurn = 0
    let longest = 0
    let counting = true
    const turn = () => {
      sinceTurn = 0
      if (counting) setImmediate(turn)
    }
    turn()
    for await (const _ of effects.files.walk(root, { maxEntries: 1000 })) longest = Math.max(longest, ++sinceTurn)
    counting = false
    expect(longest).toBeGreaterThan(0)
    expect(longest).toBeLessThanOrEqual(32)
  })

  it('bound the names of a tree, folders and special files included', async () => {
    writePackage(root, { 'a/b': '', 'c/d': '' })
    const walk = async (maxEntries: number) => {
      const paths: string[] = []
      for await (const { path } of effects.files.walk(root, { maxEntries })) paths.push(path)
      return paths
    }
    expect(await walk(4)).toEqual(['a/b', 'c/d'])
    await expect(walk(3)).rejects.toMatchObject({ code: 'request.unprocessable' })
  })
})

describe('the fingerprint of a package', () => {
  it('stays while nothing changes, and changes with content, names and files', async () => {
    writePackage(root, VECTOR)
    const first = await fingerprintPackage(effects, root)
    expect(await fingerprintPackage(effects, root)).toEqual(first)
    const seen = new Set([first.value])
    const changes = [
      () => writeFileSync(join(root, 'a.txt'), 'Y'),
      () => renameSync(join(root, 'a.txt'), join(root, 'b.txt')),
      () => writeFileSync(join(root, 'new'), ''),
      () => unlinkSync(join(root, 'empty')),
      () => utimesSync(join(root, 'new'), 1, 1),
    ]
    for (const change of changes) {
      change()
      seen.add((await fingerprintPackage(effects, root)).value)
    }
    expect(seen.size).toBe(changes.length + 1)
  })
})

function expected(...files: readonly (readonly [path: string, content: string])[]): string {
  const hash = createHash('sha256')
  for (const [path, content] of files) hash.update(path).update('\0').update(content).update(Buffer.of(0xff))
  return `sha256:${hash.digest('hex')}`
}
