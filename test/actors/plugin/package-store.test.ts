// Holds threat-model F2.
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Effects } from '../../../src/ports/effects.js'
import { createPackageStore, type PackageStore, type PinnedContent } from '../../../src/actors/plugin/package/package-store.js'
import { hashPackage } from '../../../src/actors/plugin/package/revision.js'
import { createFakeClock } from '../../../src/simulation/clock.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { makeExecutable, writePackage, writeTwins } from '../../fakes/packages.js'

const DAY = 24 * 60 * 60 * 1000
const effects = createFakeEffects({ clock: createFakeClock(Date.now()) })
const other = `sha256:${'0'.repeat(64)}`
let directory: string
let source: string
let store: PackageStore
let revision: string
let approved: PinnedContent
let count = 0
beforeEach(async () => {
  directory = join(effects.root, `store-${++count}`)
  source = writePackage(join(effects.root, `source-${count}`), {
    'bin/run': '#!/bin/sh\n',
    'lua/a/b.lua': 'return 1',
    'agent.lua': 'return {}',
  })
  makeExecutable(join(source, 'bin/run'))
  chmodSync(join(source, 'agent.lua'), 0o666)
  store = createPackageStore({ effects, directory })
  approved = await hashPackage(effects, source)
  ;({ revision } = approved)
})

const place = (of = revision) => join(directory, of.slice('sha256:'.length))
const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8)

/** Effects with some calls of `files` replaced. */
function withFiles(files: Partial<Effects['files']>) {
  return { ...effects, files: { ...effects.files, ...files } }
}

describe('keeping a package', () => {
  it('makes a copy with the same content, executable bits and no other permissions', async () => {
    const content = await store.keep(source, approved)
    expect(content).toBe(join(place(), 'content'))
    expect(await hashPackage(effects, content)).toEqual(await hashPackage(effects, source))
    expect(['.', 'bin', 'lua/a', 'bin/run', 'agent.lua'].map((path) => modeOf(join(content, path)))).toEqual([
      '700',
      '700',
      '700',
      '500',
      '400',
    ])
    expect(readdirSync(directory)).toEqual([revision.slice(7)])
    expect(modeOf(directory)).toBe('700')
    expect(await store.path(approved)).toBe(content)
  })

  it('copies once, however many ask', async () => {
    let created = 0
    const counting = createPackageStore({
      directory,
      effects: withFiles({
        createFile: async (path, options) => {
          created++
          return effects.files.createFile(path, options)
        },
      }),
    })
    const all = await Promise.all([counting.keep(source, approved), counting.keep(source, approved), counting.keep(source, approved)])
    expect([new Set(all).size, created]).toEqual([1, 3])
  })

  it('needs the package no more once there is a copy', async () => {
    const content = await store.keep(source, approved)
    expect(await createPackageStore({ effects, directory }).keep(join(effects.root, 'gone'), approved)).toBe(content)
  })

  it('refuses other content than what was approved, and leaves nothing', async () => {
    writeFileSync(join(source, 'agent.lua'), 'return { evil = true }')
    await expect(store.keep(source, approved)).rejects.toMatchObject({ code: 'plugin.invalid', details: { expected: revision } })
    expect([readdirSync(directory), await store.path(approved)]).toEqual([[], undefined])
  })

  it('notices content that changes while it is copied', async () => {
    const changing = createPackageStore({
      directory,
      effects: withFiles({
        async *walk(root, options) {
          for await (const entry of effects.files.walk(root, options)) {
            if (root === source && entry.path === 'bin/run') writeFileSync(join(source, 'lua/a/b.lua'), 'return 2')
            yield entry
          }
        },
      }),
    })
    await expect(changing.keep(source, approved)).rejects.toMatchObject({ code: 'plugin.invalid' })
    expect(readdirSync(directory)).toEqual([])
  })

  it('refuses links, and what is no revision', async () => {
    symlinkSync('agent.lua', join(source, 'link'))
    await expect(store.keep(source, approved)).rejects.toMatchObject({
      code: 'plugin.invalid',
      message: expect.stringContaining('is a link'),
    })
    for (const wrong of ['', 'sha256:../../etc', revision.toUpperCase(), `${revision}\n`, revision.slice(7)]) {
      await expect(store.keep(source, { ...approved, revision: wrong })).rejects.toMatchObject({ code: 'plugin.invalid' })
      expect(await store.path({ ...approved, revision: wrong })).toBeUndefined()
    }
  })

  it('leaves nothing when a file cannot be written, and works the next time', async () => {
    let failing = true
    const flaky = createPackageStore({
      directory,
      effects: withFiles({
        createFile: async (path, options) => {
          const sink = await effects.files.createFile(path, options)
          if (!failing || !path.endsWith('b.lua')) return sink
          return { ...sink, close: async () => sink.discard().then(() => Promise.reject(new Error('disk full'))) }
        },
      }),
    })
    await expect(flaky.keep(source, approved)).rejects.toThrow('disk full')
    expect(readdirSync(directory)).toEqual([])
    failing = false
    expect(await flaky.keep(source, approved)).toBe(join(place(), 'content'))
  })
})

describe('a copy', () => {
  it('is found by a later process', async () => {
    const content = await store.keep(source, approved)
    const later = createPackageStore({ effects, directory })
    expect(await later.path(approved)).toBe(content)
    expect(await later.path({ ...approved, revision: other })).toBeUndefined()
  })

  it('is checked before its first use in a process, and removed when it is damaged', async () => {
    const content = await store.keep(source, approved)
    const damages = [
      () => writeFileSync(join(content, 'added'), ''),
      () => {
        chmodSync(join(content, 'agent.lua'), 0o600)
        writeFileSync(join(content, 'agent.lua'), '')
      },
      () => symlinkSync('agent.lua', join(content, 'link')),
    ]
    for (const damage of damages) {
      await createPackageStore({ effects, directory }).keep(source, approved)
      damage()
      expect(await createPackageStore({ effects, directory }).path(approved)).toBeUndefined()
      expect(readdirSync(directory)).toEqual([])
    }
    expect(await createPackageStore({ effects, directory }).keep(source, approved)).toBe(content)
  })

  it('is replaced when what was left of it is not whole', async () => {
    mkdirSync(join(place(), 'content'), { recursive: true })
    writeFileSync(join(place(), 'content/agent.lua'), 'ret')
    expect(await store.path(approved)).toBeUndefined()
    mkdirSync(place(), { recursive: true })
    const content = await store.keep(source, approved)
    expect(readFileSync(join(content, 'agent.lua'), 'utf8')).toBe('return {}')
  })

  it('is not removed because it cannot be read at the moment', async () => {
    const content = await store.keep(source, approved)
    let busy = true
    const tired = createPackageStore({
      directory,
      effects: withFiles({
        async *walk(root, options) {
          if (busy) throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE', errno: -24 })
          yield* effects.files.walk(root, options)
        },
      }),
    })
    await expect(tired.path(approved)).rejects.toThrow('too many open files')
    busy = false
    expect(await tired.path(approved)).toBe(content)
  })
})

describe('packages that share a revision', () => {
  it('have a copy each, which serves its own approval only', async () => {
    const [one, two] = writeTwins(join(effects.root, `twins-${count}`))
    const [first, second] = [await hashPackage(effects, one), await hashPackage(effects, two)]
    expect(first.revision).toBe(second.revision)
    expect(first.digest).not.toBe(second.digest)
    const kept = await store.keep(one, first)
    expect([await store.path(second), await store.digestOf(second.revision)]).toEqual([undefined, first.digest])
    const own = await store.keep(two, second)
    expect([kept, own]).toEqual([join(place(first.revision), 'content'), join(place(second.digest), 'content')])
    const later = createPackageStore({ effects, directory })
    expect([await later.path(first), await later.path(second)]).toEqual([kept, own])
    await expect(store.keep(one, { ...first, digest: other })).rejects.toMatchObject({ code: 'plugin.invalid' })
  })
})

describe('the sweep', () => {
  const age = (of: string, days: number) => {
    const seconds = (effects.clock.now() - days * DAY) / 1000
    utimesSync(place(of), seconds, seconds)
  }

  it('removes copies that nobody keeps after seven days', async () => {
    const contents: PinnedContent[] = []
    for (const text of ['old', 'kept', 'young']) {
      writeFileSync(join(source, 'agent.lua'), text)
      const each = await hashPackage(effects, source)
      await store.keep(source, each)
      contents.push(each)
    }
    const [old = '', kept = '', young = ''] = contents.map((each) => each.revision)
    age(old, 7.1)
    age(kept, 30)
    age(young, 6.9)
    await store.sweep(new Set([kept, 'no revision']))
    expect(await Promise.all(contents.map((each) => store.path(each)))).toEqual([
      undefined,
      join(place(kept), 'content'),
      join(place(young), 'content'),
    ])
    expect(readdirSync(directory).toSorted()).toEqual([kept, young].map((each) => each.slice(7)).toSorted())
  })

  it('removes what interrupted copies left, and nothing else', async () => {
    mkdirSync(join(directory, '.new-0123456789abcdef/content'), { recursive: true })
    writeFileSync(join(directory, '.new-0123456789abcdef/content/x'), 'half')
    mkdirSync(join(directory, 'something'))
    utimesSync(join(directory, 'something'), 1, 1)
    await store.sweep(new Set())
    expect(readdirSync(directory)).toEqual(['something'])
  })

  it('does not touch a copy that is being made', async () => {
    let reached: () => void = () => undefined
    let goOn: () => void = () => undefined
    const copying = new Promise<void>((resolve) => {
      reached = resolve
    })
    const gate = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const slow = createPackageStore({
      directory,
      effects: withFiles({
        createFile: async (path, options) => {
          reached()
          await gate
          return effects.files.createFile(path, options)
        },
      }),
    })
    const keeping = slow.keep(source, approved)
    await copying
    await slow.sweep(new Set())
    goOn()
    expect(await keeping).toBe(join(place(), 'content'))
  })

  it('is content with a store that was never used', async () => {
    await expect(store.sweep(new Set([revision]))).resolves.toBeUndefined()
  })
})
