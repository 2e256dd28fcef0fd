import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'

const script = fileURLToPath(new URL('../scripts/lifecycles.mjs', import.meta.url))
const { livesOf } = (await import(script)) as { livesOf(root: string): { readonly problems: readonly string[] } }

/** A tree in which nothing has a reason. */
function tree(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'svc-lifecycles-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

const check = (files: Readonly<Record<string, string>>): readonly string[] => livesOf(tree(files)).problems

/** Names of what is found in one file, in their order. */
function keysIn(text: string): string[] {
  return check({ 'src/actors/a.ts': text }).map((line) => line.slice('src/actors/a.ts '.length, line.indexOf(': has no reason')))
}

describe('lives outside of machines', () => {
  test('have a reason each', () => {
    expect(execFileSync(process.execPath, [script, '--check'], { encoding: 'utf8' })).toBe('')
  })

  test('without one are told, and end the check with 1', () => {
    const root = tree({ 'src/actors/a.ts': 'setTimeout(work, 5)' })
    const { stderr, status } = spawnSync(process.execPath, [script, '--check', root], { encoding: 'utf8' })
    expect([stderr, status]).toEqual([expect.stringMatching(/^src\/actors\/a\.ts setTimeout: has no reason\..*\n$/), 1])
  })

  test('are timers that are set, and booleans that one function declares and another changes, whatever they are called', () => {
    expect(
      keysIn(`
        interface Held { isClosed: boolean; readonly isOpen: boolean; wide?: boolean | undefined }
        function setTimeoutOf(clock: { setTimeout(run: () => void, ms: number): unknown }) { clock.setTimeout(work, 5) }
        function create(options: { wide: boolean }) {
          let isStopped = false
          let mellow = false
          let first = true
          for (const each of all) first = each.isFirst && first
          return { stop() { isStopped = true }, ripen: () => (mellow ||= first), hold: (held: Held) => { held.warm = true } }
        }`),
    ).toEqual(['isClosed', 'wide', 'setTimeout', 'isStopped', 'mellow', 'warm'])
  })

  test('are not looked for in machines, in the real world, or in other programs', () => {
    const text = 'let stopped = false\nsetTimeout(work, 5)\n'
    expect(
      check({
        'src/machines/a.ts': text,
        'src/platform/node/a.ts': text,
        'src/published/client/a.ts': text,
        'src/programs/page/a.ts': text,
      }),
    ).toEqual([])
  })

  test('are what stands where a flag would: alarms that are asked, kept signals and promises, and words', () => {
    expect(
      keysIn(`
        interface Kept { turn: Promise<void> | undefined; readonly ready: Promise<void>; stage: 'first' | 'last'; look(): Promise<void> }
        type Attempt = { readonly type: 'running' } | { readonly type: 'failed' }
        interface Place { attempt: Attempt }
        function create(clock: Clock) {
          if (flushing.isOver || next?.isSet) return
          const { isOver } = flushing
          const over = new AbortController()
          f(new AbortController().signal)
          const { signal } = new AbortController()
          const held = { left: new AbortController(), state: 'a' as 'a' | 'b' }
          let last: Promise<unknown> = Promise.resolve()
          let tail = Promise.resolve()
          const work: Promise<void> = begin()
          const asked = new Map<string, Promise<void>>()
          let side: 'left' | 'right' = 'left'
          let name = 'left'
          let word = 'left'
          name = side
          return () => { side = 'right'; held.side = 'left'; word = 'right' }
        }`),
    ).toEqual([
      'Promise turn',
      'state stage',
      'state attempt',
      'flushing.isOver',
      'next.isSet',
      'AbortController over',
      'AbortController left',
      'state state',
      'Promise last',
      'Promise tail',
      'promises asked',
      'state side',
      'state word',
    ])
  })

  test('are ids in flight: put into a set of somebody else, and taken out by the same function after a wait', () => {
    expect(
      keysIn(`
        function create(clock: Clock) {
          const busy = new Set<string>()
          const lately = new Map<string, number>()
          const seen = new Set<string>()
          return {
            async use(id: string) { busy.add(id); try { await work(id) } finally { busy.delete(id) } },
            note(id: string) { lately.set(id, 1); createAlarm(clock, () => lately.delete(id)).set(5) },
            swap(id: string) { seen.add(id); seen.delete('other') },
            async find() { const own = new Set<string>(); own.add('a'); await work('a'); own.delete('a') },
          }
        }`),
    ).toEqual(['in flight busy', 'in flight lately'])
    expect(
      keysIn(`
        async function use(kept: Kept, id: string) { kept.busy.add(id); try { await work(id) } finally { kept.busy.delete(id) } }
        async function take({ taken }: Kept, id: string) { taken.add(id); await work(id); taken.delete(id) }
        async function open(kept: Kept, id: string) { const { lately } = kept; lately.add(id); await work(id); lately.delete(id) }`),
    ).toEqual(['in flight busy', 'in flight taken', 'in flight lately'])
  })

  test('are not where an alarm answers', () => {
    expect(check({ 'src/kernel/alarm.ts': 'if (alarm.isOver) work()' })).toEqual([])
  })
})
