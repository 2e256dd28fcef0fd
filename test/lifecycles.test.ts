import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'

const script = fileURLToPath(new URL('../scripts/lifecycles.mjs', import.meta.url))

/** What is found in a tree of its own, in which nothing has a reason. */
function check(files: Readonly<Record<string, string>>): readonly string[] {
  const root = mkdtempSync(join(tmpdir(), 'svc-lifecycles-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const { stderr, status } = spawnSync(process.execPath, [script, '--check', root], { encoding: 'utf8' })
  expect(status).toBe(stderr === '' ? 0 : 1)
  return stderr.split('\n').filter((line) => line !== '')
}

describe('lives outside of machines', () => {
  test('have a reason each', () => {
    expect(execFileSync(process.execPath, [script, '--check'], { encoding: 'utf8' })).toBe('')
  })

  test('are timers that are set, and booleans that say where something is in its life', () => {
    const problems = check({
      'src/actors/a.ts': [
        'let isStopped = false',
        'let wide = false',
        'const stopped = false',
        '  setTimeout(run: () => void, ms: number): unknown',
        'clock.setTimeout(work, 5)',
        '  isClosed: boolean',
        '  readonly isOpen: boolean',
      ].join('\n'),
    })
    const keys = problems.map((line) => line.slice(0, line.indexOf(':')))
    expect(keys).toEqual(['src/actors/a.ts isStopped', 'src/actors/a.ts setTimeout', 'src/actors/a.ts isClosed'])
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
    const problems = check({
      'src/actors/a.ts': [
        'if (flushing.isOver || next?.isOver) return',
        'const over = new AbortController()',
        'f(new AbortController().signal)',
        'let last: Promise<unknown> = Promise.resolve()',
        'const work: Promise<void> = begin()',
        '  turn: Promise<void> | undefined',
        '  readonly ready: Promise<void>',
        '  ready(): Promise<void>',
        'let phase = begin()',
        "let side: 'left' | 'right' = 'left'",
        "let name = 'left'",
        "  stage: 'first' | 'last'",
      ].join('\n'),
      'src/kernel/alarm.ts': 'if (alarm.isOver) return',
    })
    const keys = problems.map((line) => line.slice(0, line.indexOf(': ')))
    expect(keys).toEqual(
      ['flushing.isOver', 'AbortController over', 'Promise last', 'Promise turn', 'state phase', 'state side', 'state stage'].map(
        (name) => `src/actors/a.ts ${name}`,
      ),
    )
  })
})
