/** `svc plugin doctor`: everything that keeps a package from running, each with what to do about it. */
import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import type { FoundPackage } from '../../../actors/plugin/package/package-files.js'
import { whyNotInside } from '../../../actors/plugin/package/native-part.js'
import { createSandbox, packagePolicy } from '../../../actors/plugin/entry/sandbox.js'
import { intersectCapabilities, NO_APPROVAL, NO_BROKER_ACTION, noBroker } from '../../../machines/plugin/capability.js'
import { BROKERED } from '../../../protocol/plugin/broker-operations.js'
import { SvcError } from '../../../protocol/errors.js'
import { isToolsId } from '../../../protocol/plugin/tool-files.js'
import { failureText } from '../../failure.js'
import { type Finding, renderFindings } from '../../findings.js'
import type { PluginDoctorOptions } from './plugin-arguments.js'
import { type EntryRow, entryRows } from './plugin-entries.js'
import { applicantOf, approvalOf, openPluginPlace, type PluginPlace, type ReadPackage, readPackage } from './plugin-place.js'
import { isFailedUpdate, stateWords } from './state-words.js'
import { needsOf } from './plugin-needs.js'
import { askServer, type ServerView, startAndAsk } from './plugin-server.js'
import { jsonText, writeOut } from '../../terminal/output.js'

/** Prints the findings; answers 1 when one of them keeps a package from running. */
export async function pluginDoctor(options: PluginDoctorOptions): Promise<number> {
  const place = await openPluginPlace(options.directory)
  const packages = place.packages.filter(({ id }) => options.id === undefined || id === options.id)
  if (options.id !== undefined && packages.length === 0) {
    throw new SvcError(
      'resource.not_found',
      `there is no package ${options.id} for ${place.workspace}; "svc plugin list" shows what there is`,
    )
  }
  const onDisk = await packageFindings(place, packages)
  const entries = options.id === undefined ? entryFindings(await entryRows(place, undefined)) : []
  const findings = [
    ...entries,
    ...place.entries.diagnostics.map(
      ({ level, path, message }): Finding => ({ level, check: 'configuration', detail: `${path}: ${message}` }),
    ),
    ...onDisk,
    ...(await startedFindings(options, place, onDisk)),
  ]
  const ok = findings.every(({ level }) => level !== 'error')
  if (options.json) writeOut(`${jsonText({ ok, findings }, 2)}\n`)
  else writeOut(findings.length === 0 ? 'no packages\n' : renderFindings(findings))
  return ok ? 0 : 1
}

/** What entries of the configuration name in vain. */
export function entryFindings(rows: readonly EntryRow[]): Finding[] {
  return rows.flatMap(({ id, problem }) =>
    problem === undefined ? [] : [{ level: 'warning', check: id, detail: `it does not run: ${problem}` }],
  )
}

/** What a server says of them; where none runs, one that is started for what nothing on disk speaks against. */
async function startedFindings(
  { server, id }: PluginDoctorOptions,
  { workspace }: PluginPlace,
  onDisk: readonly Finding[],
): Promise<Finding[]> {
  const running = await askServer(server, workspace)
  if (running.type !== 'absent') return serverFindings(running, id)
  const sound = new Set(onDisk.flatMap(({ level, check }) => (level === 'ok' ? [check] : [])))
  if (sound.size === 0) return []
  return serverFindings(await startAndAsk(workspace), id).filter(({ check }) => sound.has(check) || check === 'server')
}

/** What files and programs alone tell of packages. */
export async function packageFindings(place: PluginPlace, packages: readonly FoundPackage[]): Promise<Finding[]> {
  return (await Promise.all(packages.map((found) => inspectPackage(place, found)))).flat()
}

async function inspectPackage(place: PluginPlace, found: FoundPackage): Promise<Finding[]> {
  const check = found.id
  if (found.problems.length > 0) {
    return found.problems.map(({ message, action }) => ({ level: 'error', check, detail: advise(`${found.root}: ${message}`, action) }))
  }
  if (place.entries.isDisabled(found.id)) {
    return [{ level: 'warning', check, detail: advise('it is switched off', `svc plugin enable ${found.id}`) }]
  }
  try {
    const read = await readPackage(place, found)
    const problems = [...approvalFindings(place, read), ...capabilityFindings(read), ...(await programFindings(place, read))]
    if (problems.length > 0) return problems
    const needs = await needsOf(place, read)
    return [
      ...needs.map(({ what, remedy }): Finding => ({ level: 'warning', check, detail: advise(`it still needs ${what}`, remedy) })),
      {
        level: 'ok',
        check,
        detail: `content: approved for ${read.target.scope} scope, ${read.files === 1 ? '1 file' : `${read.files} files`}, ${read.revision}`,
      },
    ]
  } catch (error) {
    return [{ level: 'error', check, detail: failureText(error) }]
  }
}

function approvalFindings(place: PluginPlace, read: ReadPackage): Finding[] {
  const check = read.found.id
  const approval = approvalOf(place, read)
  if (approval.ok) return []
  const { workspaceId } = applicantOf(place, read).place
  const before = place.entries.package(check).trust.find((trust) => trust.workspaceId === (workspaceId ?? '') && trust.packageId === check)
  const isChanged = before !== undefined && before.revision !== read.revision
  const reason = isChanged
    ? `its content changed since it was approved: ${before.revision} then, ${read.revision} now`
    : `content: ${approvalWords(approval.reason)}`
  return [{ level: 'error', check, detail: advise(reason, `look at it, then: svc plugin trust ${check} --dir ${place.workspace}`) }]
}

/** The words of `permission-required` say what svc needs, not what nobody did. */
function approvalWords(reason: string): string {
  return reason === NO_APPROVAL ? `nobody has approved it (${reason})` : reason
}

function capabilityFindings({ found, target }: ReadPackage): Finding[] {
  const { scope, runtime, capabilities: declared } = target
  const { unbrokered } = intersectCapabilities({ declared, trusted: undefined, scope, runtime, brokered: BROKERED })
  if (unbrokered.length === 0) return []
  return [{ level: 'error', check: found.id, detail: advise(noBroker(unbrokered, scope), NO_BROKER_ACTION) }]
}

async function programFindings(place: PluginPlace, read: ReadPackage): Promise<Finding[]> {
  const { found, target } = read
  const approval = approvalOf(place, read)
  if (approval.ok && approval.isNative) {
    const refusal = whyNotInside(place.entries.package(found.id), place.effects.env)
    return refusal === undefined ? [] : [{ level: 'error', check: found.id, detail: refusal }]
  }
  if (target.runtime === 'lua' || isToolsId(found.id)) return [] // svc runs them by programs of its own
  const check = found.id
  const [program = target.entrypoint, ...args] = target.command
  const path = await findProgram(place, found.root, program, target.command.length === 0)
  if (path === undefined) return [{ level: 'error', check, detail: missing(program, target.command.length === 0) }]
  const policy = packagePolicy(check, place.entries.package(check).sandbox, place.effects.env)
  const network = target.capabilities.includes('network')
  const isFromPackage = target.command.length === 0 || program.includes('/')
  const trial = isFromPackage ? args : ['--version']
  const wrapped = await createSandbox(place.effects).wrap(policy, { program: path, args: trial, cwd: found.root, network })
  const advice = `install bubblewrap, or set plugins.${check}.options.sandbox to false`
  if ('unavailable' in wrapped) return [{ level: 'error', check, detail: advise(wrapped.unavailable, advice) }]
  if (wrapped.uncontained !== undefined) return [{ level: 'warning', check, detail: `it runs without a sandbox: ${wrapped.uncontained}` }]
  if (isFromPackage || wrapped.program === path) return []
  const failure = await whyItFails(place, found.root, wrapped)
  if (failure === undefined) return []
  const remedy = `name an interpreter below /usr in agent.command, or set plugins.${check}.options.sandbox to false`
  return [{ level: 'error', check, detail: advise(`${path} does not run inside the sandbox: ${failure}`, remedy) }]
}

/** Interpreters of version managers live in home directories, which the sandbox hides; only the interpreter itself is tried. */
async function whyItFails(
  { effects }: PluginPlace,
  cwd: string,
  { program, args }: { readonly program: string; readonly args: readonly string[] },
): Promise<string | undefined> {
  const { signal } = new AbortController()
  const options = { command: program, args, cwd, env: effects.childEnv, signal, timeoutMs: 10_000, captureBytes: 4096 }
  const { exitCode, stderr } = await effects.processes.run(options)
  return exitCode === 0 ? undefined : (stderr.trim().split('\n').at(-1) ?? `it ends with code ${exitCode}`)
}

/** An entrypoint is in the package; a name with a slash is relative to it; another name is searched for. */
async function findProgram(place: PluginPlace, root: string, program: string, isEntrypoint: boolean): Promise<string | undefined> {
  if (!isEntrypoint && !program.includes('/')) return place.effects.processes.find(program)
  const path = program.startsWith('/') ? program : join(root, program)
  try {
    await access(path, constants.X_OK)
    return path
  } catch {
    return undefined
  }
}

function missing(program: string, isEntrypoint: boolean): string {
  if (isEntrypoint || program.includes('/')) return advise(`${program} cannot be executed`, `chmod +x ${program}, in the package`)
  return advise(`there is no program "${program}" on the search path`, `install ${program}, or change agent.command`)
}

/** It serves, or does as soon as it is asked to. */
const RUNNABLE: ReadonlySet<string> = new Set(['active', 'trusted', 'enabled'])

/** What a server says of the packages it was asked about. */
export function serverFindings(server: ServerView, id: string | undefined): Finding[] {
  if (server.type === 'absent') return []
  if (server.type === 'silent') return [{ level: 'warning', check: 'server', detail: `${server.url}: ${server.reason}` }]
  return server.packages
    .filter(({ packageId }) => id === undefined || packageId === id)
    .flatMap(({ packageId, state, diagnostics }) => {
      const level =
        state === 'failed' || state === 'degraded' || isFailedUpdate({ state, diagnostics })
          ? 'error'
          : RUNNABLE.has(state) && diagnostics.every(({ code }) => code !== 'reported')
            ? 'ok'
            : 'warning'
      const detail = diagnostics.map(({ code, message, action }) => advise(message, remedyOf(packageId, code, action))).join('; ')
      return [
        {
          level,
          check: packageId,
          detail: `${server.isOwn === true ? 'started for this check' : 'running server'}: it ${stateWords({ state, diagnostics })} (${state})${detail === '' ? '' : `: ${detail}`}`,
        } as const,
      ]
    })
}

/** The commands that tell why it failed and mend that; what else there is to do the server says. */
function remedyOf(id: string, code: string, action: string | undefined): string | undefined {
  if (code === 'failed' || code === 'degraded')
    return `svc logs --plugin ${id} tells more; once it is mended: svc plugin trust ${id}; or go back: svc plugin restore ${id}`
  return code === 'approval-required' ? `look at it, then: svc plugin trust ${id}` : action
}

function advise(problem: string, action: string | undefined): string {
  return action === undefined ? problem : `${problem.replace(/\.$/, '')} -> ${action}`
}
