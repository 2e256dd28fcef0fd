/**
 * Every setting that git documents, given to a repository with a program for its value. What git then starts must be named before
 * the agent's command runs, and what reads repositories must start nothing and answer as before.
 *
 * Those that git is known to start something for run always, with the command that does and a few others, and so does a sample of the
 * others; `SVC_CAMPAIGN=whole` runs every one with every command.
 */
import { expect, test } from 'vitest'
import { readAtOnce } from '../../../src/kernel/work.js'
import { createNamedPrograms } from '../../../src/platform/git/named-programs.js'
import { programSettings } from '../../../src/platform/git/program-settings.js'
import { createNodeFiles } from '../../../src/platform/node/files/node-files.js'
import { createProjects } from '../../../src/actors/session/state/project.js'
import { gitUse } from '../../../src/plugins/shell/programs/git/git.js'
import { plainWord } from '../../../src/plugins/shell/words/word.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { SEED, WHOLE } from '../scale.js'
import { COMMANDS, documentedSettings, makeFixture } from './fixture.js'

const SAMPLE = 4

/**
 * With a program's path for their value, these say that the repository lies elsewhere, or has a form nobody knows; the last git documents, and
 * does not take on a command line.
 */
const UNREADABLE = [
  'core.worktree',
  'extensions.objectFormat',
  'extensions.refStorage',
  'core.repositoryFormatVersion',
  'gitweb.remote_heads',
]

/** Settings that need no documentation to be tried, whatever the installed git lists, and the first command that starts what they name. */
const STARTS: Readonly<Record<string, string>> = {
  'core.fsmonitor': 'status',
  'core.hooksPath': 'status',
  'core.editor': 'commit --quiet --allow-empty',
  'core.sshCommand': 'fetch origin',
  'diff.external': 'diff',
  'diff.x.command': 'diff',
  'diff.x.textconv': 'diff',
  'filter.x.clean': 'diff',
  'filter.x.smudge': 'checkout other',
  'filter.x.process': 'diff',
  'merge.x.driver': 'merge other',
  'gpg.program': 'commit --quiet --allow-empty --message signed -S',
  'tar.tar.x.command': 'archive --format=tar.x HEAD',
  'trailer.x.command': 'commit --quiet --allow-empty --message trailer --trailer x: y',
  'alias.x': 'x',
  'include.path': 'status',
  'remote.origin.url': 'fetch origin',
}
const CONTROLS = Object.keys(STARTS)

/** What is tried with one setting: everything, or what starts its program and a few more. */
function commandsFor(key: string, index: number): typeof COMMANDS {
  if (WHOLE) return COMMANDS
  // Branches can be changed when what was edited is put aside.
  return COMMANDS.filter(
    (command, at) => [STARTS[key], 'stash', 'switch main'].includes(command.join(' ')) || (at + index + SEED) % 8 === 0,
  )
}

function chosen(): string[] {
  const documented = documentedSettings()
  expect(documented.length).toBeGreaterThan(500)
  const known = documented.filter((key) => readAtOnce(programSettings([[key.toLowerCase(), '/program']], 'unknown')).length > 0)
  let state = SEED
  const sample = documented.filter(() => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31 < SAMPLE / documented.length)
  return [...new Set([...CONTROLS, ...(WHOLE ? [...known, ...documented] : sample)])]
}

test('what a setting has git start is named before the command runs', { timeout: WHOLE ? 3_600_000 : 900_000 }, async () => {
  const fixture = makeFixture()
  const files = createNodeFiles()
  const effects = createFakeEffects()
  const programs = createNamedPrograms({ files, paths: effects.paths })
  const keys = chosen()
  const started = new Map<string, Set<string>>()
  const unnamed: string[] = []
  const unread: string[] = []
  let runs = 0
  for (const [index, key] of keys.entries()) {
    const commands = commandsFor(key, index)
    const trial = fixture.trial(key)
    const project = await createProjects({ files, log: effects.log, clock: effects.clock }).identify(trial.directory)
    if (!/^[0-9a-f]{40}$/.test(project.projectId)) unread.push(key)
    for (const command of commands) await programs.named(trial.directory, command[0] ?? '')
    expect(trial.ran(), `what was read with ${key} started something`).toBe(false)
    for (const command of commands) {
      const named = await programs.named(trial.directory, command[0] ?? '')
      runs += 1
      if (!trial.runs(command)) continue
      started.set(key, (started.get(key) ?? new Set()).add(command[0] ?? ''))
      if (!named.some((text) => text.toLowerCase().includes(key === 'core.hooksPath' ? 'hook ' : key.toLowerCase())))
        unnamed.push(`${key} by git ${command.join(' ')}`)
    }
  }
  console.info(
    `git settings: seed ${SEED}, ${keys.length} settings, ${runs} commands, ${started.size} settings started a program, ${unnamed.length} unnamed`,
  )
  expect(unnamed, `seed ${SEED}`).toEqual([])
  expect(
    unread.filter((key) => !UNREADABLE.includes(key)),
    'settings that hide the project',
  ).toEqual([])
  expect([...started.keys()], 'controls: git starts what these name').toEqual(expect.arrayContaining(CONTROLS))

  const onTheLine = [...started.keys()].filter((key) => {
    const line = (...args: readonly string[]) => gitUse([...args, 'status'].map(plainWord)).reasons
    return (
      line('-c', `${key}=x`).length === 0 || line(`--config-env=${key}=X`).length === 0 || line('--config-env', `${key}=X`).length === 0
    )
  })
  expect(onTheLine, 'settings given on the line').toEqual([])
})
