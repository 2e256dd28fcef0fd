/** `svc plugin test` of a whole package: what every package is held to, then what its author wrote, against a host made for it. */
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { hashPackage } from '../../../../actors/plugin/package/revision.js'
import { settingsIssue } from '../../../../actors/plugin/process/settings-issue.js'
import { parseInitializeReply } from '../../../../actors/plugin/link/initialize.js'
import type { FoundPackage } from '../../../../actors/plugin/package/package-files.js'
import { createNodeEffects } from '../../../../platform/node/node-effects.js'
import type { Effects } from '../../../../ports/effects.js'
import { SvcError } from '../../../../protocol/errors.js'
import { messageOf } from '../../../../protocol/message-of.js'
import type { AgentTarget } from '../../../../protocol/plugin/plugin.js'
import { printable } from '../../../../protocol/text/visible-text.js'
import { jsonText, writeError, writeOut } from '../../../terminal/output.js'
import { openRoom, stage } from '../install/installation-root.js'
import { filesOfDirectory } from '../install/package-content.js'
import { buildSources, sourcesOf } from '../make/build-sources.js'
import { packageRoot } from '../author/package-root.js'
import type { TestOptions } from '../plugin-arguments.js'
import { unknownKeys } from '../manifest-keys.js'
import { shortRevision } from '../plugin-words.js'
import { readChecks } from '../check-file.js'
import { CHECK_FILE } from '../check-file-name.js'
import { AT_FIRST, AT_LAST, type Conformance, NOBODY, type Started } from './conformance.js'
import { startHarness } from './harness.js'
import { type Outcome, runCheck } from './own-checks.js'

/** Builds what has sources, then checks it; answers 1 when something is wrong. */
export async function testPackage(options: Pick<TestOptions, 'id' | 'directory' | 'json'>): Promise<number> {
  const effects = createNodeEffects({ logLevel: 'error' })
  const root = await packageRoot(options.id, options.directory)
  const sources = sourcesOf(root)
  if (!(await buildSources(sources, root))) throw new SvcError('plugin.invalid', 'the build failed')
  const { found, target } = await judged(effects, root)
  const file = join(sources, CHECK_FILE)
  const own = readChecks(file)
  const issue = settingsIssue(target.settings, own.config ?? {})
  if (issue !== undefined) writeError(`svc: the "config" of ${printable(file)} does not fit agent.settings: ${printable(issue)}\n`)
  if (found.manifest !== undefined) for (const each of unknownKeys(found.manifest)) writeError(`svc: ${printable(each)}\n`)
  const { revision } = await hashPackage(effects, root)
  const started = await start(effects, { found, root, target, revision }, own.config ?? {})
  try {
    const outcomes: Outcome[] = []
    const conform = async (all: readonly Conformance[]) => {
      for (const each of all) tell(options, outcomes, await conforms(each, started))
    }
    await conform(started.offered === undefined ? AT_FIRST.slice(0, 1) : AT_FIRST)
    if (started.offered !== undefined) {
      const given = { host: own.host ?? {}, tools: started.offered.tools ?? [] }
      for (const check of own.checks) tell(options, outcomes, await runCheck(started.harness, check, given))
      await conform(AT_LAST)
    }
    const version = started.offered?.version ?? found.manifest?.version
    if (version !== found.manifest?.version)
      writeError(printable(`svc: the manifest says version ${found.manifest?.version || 'nothing'}, the plugin ${version || 'nothing'}\n`))
    return report(options, { id: found.id, revision, outcomes, hasOwn: existsSync(file), file })
  } finally {
    await started.harness.close()
  }
}

/** As svc judges it; throws a sentence for what it would not run. */
async function judged(effects: Effects, root: string): Promise<{ readonly found: FoundPackage; readonly target: AgentTarget }> {
  const room = openRoom(effects)
  try {
    return await stage(effects, room, await filesOfDirectory(effects, realpathSync(root)))
  } finally {
    room.close()
  }
}

async function start(
  effects: Effects,
  { found, root, target, revision }: { found: FoundPackage; root: string; target: AgentTarget; revision: string },
  config: unknown,
): Promise<Started> {
  const harness = await startHarness(effects, { id: found.id, root, target })
  const reply = await harness.initialize(config).catch((error: unknown) => ({ error: messageOf(error) }))
  return { harness, reply, offered: offeredOf(reply), revision, revisionNow: () => harness.revision() }
}

function offeredOf(reply: Started['reply']): Started['offered'] {
  if ('error' in reply) return undefined
  try {
    return parseInitializeReply(reply.result)
  } catch {
    return undefined
  }
}

async function conforms({ name, requires, check }: Conformance, started: Started): Promise<Outcome> {
  const before = started.harness.log.length
  try {
    const problem = await check(started)
    return problem === undefined
      ? { name }
      : { name, problem: `the package ${requires}; ${problem}`, log: started.harness.log.slice(before) }
  } catch (error) {
    return { name, problem: `the package ${requires}; ${messageOf(error)}`, log: started.harness.log.slice(before) }
  }
}

const SHOWN_LOG = 20

function tell({ json }: { readonly json: boolean }, outcomes: Outcome[], outcome: Outcome): void {
  outcomes.push(outcome)
  if (json) return
  writeOut(`${outcome.problem === undefined ? 'ok  ' : 'FAIL'}  ${printable(outcome.name)}\n`)
  if (outcome.problem === undefined) return
  writeError(`      ${printable(outcome.problem)}\n`, 'red')
  for (const line of withoutProbes(outcome.log ?? []).slice(-SHOWN_LOG)) writeError(`      ${printable(line)}\n`, 'dim')
}

/** Without what it wrote, with traces, of what was asked for to see it refused: the log comes later than the answers. */
function withoutProbes(log: readonly string[]): string[] {
  const begins = (line: string) => !/^\s/.test(line)
  return log.filter((_line, at) => {
    const first = log.slice(0, at + 1).findLast(begins)
    return first?.includes(NOBODY) !== true
  })
}

interface Report {
  readonly id: string
  readonly revision: string
  readonly outcomes: readonly Outcome[]
  readonly hasOwn: boolean
  readonly file: string
}

function report({ json }: { readonly json: boolean }, { id, revision, outcomes, hasOwn, file }: Report): number {
  const failed = outcomes.filter(({ problem }) => problem !== undefined).length
  if (json) writeOut(`${jsonText({ id, revision, ok: failed === 0, checks: outcomes }, 2)}\n`)
  else {
    writeOut(`${id} ${shortRevision(revision)}: ${outcomes.length - failed} of ${outcomes.length} checks passed\n`)
    if (failed > 0 && hasOwn) writeError(`svc: its own checks are in ${printable(file)}\n`, 'dim')
    if (!hasOwn) writeError(`svc: it has no checks of its own; write them into ${file}\n`, 'dim')
  }
  return failed === 0 ? 0 : 1
}
