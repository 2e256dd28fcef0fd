/** Every way in which files come to be different: the configuration is another one at the next look, and who listens is told. */
import { appendFileSync, chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { SvcError } from '../../../src/protocol/errors.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createWorkspace } from './workspace.js'

type Place = ReturnType<typeof createWorkspace>

/** What is done to a place whose `svc.json` says "one", after which it says "two". */
const WAYS: readonly (readonly [string, (place: Place) => void])[] = [
  ['written in place', ({ at }) => writeFileSync(at('work/svc.json'), '{"username":"two"}')],
  [
    'renamed over',
    ({ at }) => {
      writeFileSync(at('work/.svc.json.swp'), '{"username":"two"}')
      renameSync(at('work/.svc.json.swp'), at('work/svc.json'))
    },
  ],
  [
    'written in pieces',
    ({ at }) => {
      writeFileSync(at('work/svc.json'), '{"user')
      appendFileSync(at('work/svc.json'), 'name":"two"')
      appendFileSync(at('work/svc.json'), '}')
    },
  ],
  [
    'removed and made again',
    ({ at }) => {
      rmSync(at('work/svc.json'))
      writeFileSync(at('work/svc.json'), '{"username":"two"}')
    },
  ],
  [
    'replaced by a link',
    ({ at }) => {
      writeFileSync(at('work/other.json'), '{"username":"two"}')
      rmSync(at('work/svc.json'))
      symlinkSync('other.json', at('work/svc.json'))
    },
  ],
  [
    'in a directory that did not exist',
    ({ write }) => {
      write('work/.svc/config.json', { username: 'two' })
    },
  ],
  [
    'in a directory that was moved there',
    ({ write, at }) => {
      write('elsewhere/config.json', { username: 'two' })
      renameSync(at('elsewhere'), at('work/.svc'))
    },
  ],
  [
    'in a worktree that was moved away and made anew',
    ({ write, at }) => {
      renameSync(at('work'), at('before'))
      mkdirSync(at('work/.git'), { recursive: true })
      write('work/svc.json', { username: 'two' })
    },
  ],
  ['of the installation', ({ write, at }) => (rmSync(at('work/svc.json')), write('config/config.jsonc', '{"username":"two"} // late'))],
]

async function begin(): Promise<Place> {
  const place = createWorkspace()
  place.write('work/svc.json', { username: 'one' })
  expect(await place.load()).toEqual({ username: 'one' })
  return place
}

describe('a file', () => {
  it.each(WAYS)('%s is heard', async (_way, change) => {
    const place = await begin()
    change(place)
    expect(await place.load()).toEqual({ username: 'two' })
  })

  it('that a checkout brings is heard, and one that it takes away', async () => {
    const place = createWorkspace({ git: false })
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], { cwd: place.work, stdio: 'ignore' })
    git('init', '--initial-branch=main')
    place.write('work/svc.json', { username: 'one' })
    git('add', '.')
    git('commit', '-m', 'one')
    git('switch', '-c', 'two')
    place.write('work/svc.json', { username: 'two' })
    place.write('work/.svc/agents/review.md', 'Review.')
    place.write('work/.svc/skills/tidy/SKILL.md', '---\ndescription: Tidy.\n---\nTidy.')
    git('add', '.')
    git('commit', '-m', 'two')
    expect(await place.load()).toEqual({ username: 'two', agent: { review: { prompt: 'Review.' } } })
    git('switch', 'main')
    expect(await place.load()).toEqual({ username: 'one' })
    expect(await place.resources.skills(place.work)).toEqual([])
    git('switch', 'two')
    expect(await place.load()).toEqual({ username: 'two', agent: { review: { prompt: 'Review.' } } })
    expect(await place.resources.skills(place.work)).toMatchObject([{ name: 'tidy' }])
  })

  it('reached through links is heard wherever one of them is changed', async () => {
    const place = createWorkspace()
    for (const each of ['one', 'two']) place.write(`${each}/agents/a.md`, each)
    symlinkSync(place.at('one'), place.at('through'))
    rmSync(place.at('home/.svc'), { recursive: true, force: true })
    symlinkSync(place.at('through'), place.at('home/.svc'))
    expect(await place.load()).toEqual({ agent: { a: { prompt: 'one' } } })
    place.write('one/agents/a.md', 'one, changed')
    expect(await place.load()).toEqual({ agent: { a: { prompt: 'one, changed' } } })
    rmSync(place.at('through'))
    expect(await place.load()).toEqual({})
    symlinkSync(place.at('two'), place.at('through'))
    expect(await place.load()).toEqual({ agent: { a: { prompt: 'two' } } })
  })

  it('is not read any more once others may write a directory above it', async () => {
    const place = await begin()
    chmodSync(place.work, 0o777)
    expect(await place.load()).toEqual({})
    chmodSync(place.work, 0o755)
    expect(await place.load()).toEqual({ username: 'one' })
  })
})

describe('who listens', () => {
  it.each([
    ['is told again while nothing can be written', 'store.unavailable', 1],
    ['is not told again once everything is over', 'lifecycle.closed', 0],
  ] as const)('%s, and whoever asks has the value', async (_what, code, more) => {
    let tries = 0
    let isBroken = true
    const place = createWorkspace({
      onUpdated() {
        tries++
        if (isBroken) throw new SvcError(code, 'no')
      },
    })
    const { clock } = place.effects
    place.write('work/svc.json', { username: 'one' })
    await place.load()
    place.write('work/svc.json', { username: 'two' })
    await place.load().catch(() => undefined)
    expect(await place.configs.load(place.work)).toEqual({ username: 'two' })
    const before = tries
    isBroken = false
    await clock.advanceAsync(LIMITS.config.tellAgain)
    await turns()
    expect(tries - before).toBe(more)
    await clock.advanceAsync(10 * LIMITS.config.tellAgain)
    expect(tries - before).toBe(more)
  })

  it('is told of a change on disk soon after it, and not of what changes nothing', async () => {
    const told: string[] = []
    let tell = (): void => undefined
    const isTold = () => new Promise<void>((resolve) => (tell = resolve))
    const place = createWorkspace({
      onUpdated(directory) {
        told.push(directory)
        tell()
      },
    })
    const { clock } = place.effects
    place.write('work/svc.json', { username: 'one' })
    await place.load()
    const first = isTold()
    place.write('work/svc.json', '{ "username": ')
    place.write('work/svc.json', { username: 'two' })
    await turns()
    clock.advance(LIMITS.config.settle)
    await first
    expect(told).toEqual([place.work])
    expect(await place.configs.load(place.work)).toEqual({ username: 'two' })
    place.write('work/svc.json', '{ /* the same */ "username": "two" }')
    await place.load()
    place.write('work/notes.txt', 'no configuration')
    await turns()
    clock.advance(LIMITS.config.settle)
    await place.load()
    expect(told).toHaveLength(1)
  })

  it('is told once of what was patched, also when it says the same as before', async () => {
    const told: string[] = []
    const place = createWorkspace({ onUpdated: (directory) => void told.push(directory) })
    await place.configs.update(place.work, { username: 'one' })
    await place.configs.update(place.work, { username: 'one' })
    await turns()
    place.effects.clock.advance(LIMITS.config.settle)
    await place.load()
    expect(told).toEqual([place.work, place.work])
  })

  it('is told nothing, and nothing is watched, of a directory that nobody uses any more', async () => {
    const open = new Set<string>()
    const place = createWorkspace({
      watchFolder: (real) => (path, onChange) => {
        const end = real(path, onChange)
        if (typeof end === 'string') return end
        open.add(path)
        return () => (end(), void open.delete(path))
      },
    })
    await place.load()
    await place.resources.instructions(place.work)
    expect(open).toContain(place.work)
    place.configs.snapshots.forget(place.work)
    expect([...open]).toEqual([])
  })
})

/** What happened before is told. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve))
}
