/** Completion in real shells, and the manual page in a real formatter. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { completion } from '../../../src/cli/help/completion.js'
import { manualPage } from '../../../src/cli/help/man.js'
import { lacking } from '../../fakes/machine.js'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-completion-'))
  for (const shell of ['bash', 'zsh', 'fish'] as const) writeFileSync(join(folder, `_svc.${shell}`), completion(shell))
  writeFileSync(join(folder, 'conversation.json'), '[]')
  const values = `#!/bin/sh\n[ "$*" = 'completion values model' ] && printf 'local/qwen3:8b\\tQwen\\nother/one\\tOne\\n'\n`
  writeFileSync(join(folder, 'svc'), values, { mode: 0o755 })
})
afterAll(() => rmSync(folder, { recursive: true }))

function shell(program: string, args: readonly string[], script: string): string[] {
  const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}`, HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder, TERM: 'dumb' }
  const text = execFileSync(program, [...args, script], { cwd: folder, env, encoding: 'utf8', timeout: 20_000 })
  return text.split(/\r?\n/).filter((line) => line !== '')
}

/** What the shell offers where the line ends. */
const COMPLETED: Readonly<Record<'bash' | 'zsh' | 'fish', (line: string) => string[]>> = {
  bash: (line) => {
    const words = line.split(' ')
    const array = words.map((word) => `'${word}'`).join(' ')
    return shell(
      'bash',
      ['--noprofile', '--norc', '-c'],
      `source _svc.bash; compopt() { :; }; COMP_WORDS=(${array}); COMP_CWORD=${words.length - 1}; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`,
    )
  },
  // Its completion runs inside the line editor only: what is described is written down instead of shown.
  zsh: (line) => {
    const words = line.split(' ').map((word) => `'${word}'`)
    return shell(
      'zsh',
      ['-f', '-c'],
      `compdef() { :; }; source ./_svc.zsh
       _describe() { local each; for each in "\${(@P)2}"; do print -r -- "\${each%%:*}"; done; }
       _files() { print -rl -- *; }
       words=(${words.join(' ')}) CURRENT=${words.length}; _svc`,
    ).filter((name) => name.startsWith(line.split(' ').at(-1) ?? ''))
  },
  fish: (line) => shell('fish', ['--no-config', '-c'], `source _svc.fish; complete -C '${line}'`).map((each) => each.split('\t')[0] ?? ''),
}

describe.each([
  { name: 'bash', why: lacking('bash') },
  { name: 'zsh', why: lacking('zsh') },
  { name: 'fish', why: lacking('fish') },
] as const)('completion in $name$why', ({ name, why }) => {
  const complete = COMPLETED[name]
  beforeEach(({ skip }) => skip(why !== '', why))

  test('offers commands, actions and options', () => {
    expect(complete('svc se').toSorted()).toEqual(['serve', 'session'])
    expect(complete('svc agent s')).toEqual(['show'])
    expect(complete('svc session f')).toEqual(['fork'])
    expect(complete('svc session list --al')).toEqual(['--all'])
    expect(complete('svc run --mo')).toEqual(['--model'])
    expect(complete('svc completion z')).toEqual(['zsh'])
  })

  test('offers values that a running server knows', () => {
    expect(complete('svc run --model loc')).toEqual([name === 'zsh' ? 'local/qwen3\\' : 'local/qwen3:8b'])
    expect(complete('svc run --agent bu')).toEqual([])
  })

  test('offers the values of an option, and paths', () => {
    expect(complete('svc run --allow on')).toEqual(['once'])
    expect(complete('svc session import conv')).toEqual(['conversation.json'])
  })
})

const NO_GROFF = lacking('groff')
test.skipIf(NO_GROFF !== '')(`the manual page renders without a complaint${NO_GROFF}`, () => {
  const file = join(folder, 'svc.1')
  writeFileSync(file, manualPage('1.2.3'))
  const shown = execFileSync('groff', ['-man', '-Tutf8', '-ww', '-rLL=100n', '-P-cbou', file], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const text = shown.replaceAll('‐', '-').replaceAll('−', '-')
  expect(text).toContain('svc session import <file>')
  expect(text).toMatch(/--allow <policy>\s+answer to permission requests: ask, once, always or reject\. +Otherwise: +ask\./)
  expect(text).toContain('130')
})
