/**
 * Command lines of the tools of this plugin: judged, checked again, and made ready to run (sessions-events §8.7, §10.5).
 *
 * I1 A command is analysed before it is judged, and again before it runs: when it would touch something else
 *    than what was judged (a link changed, files came), nothing runs.
 * I2 In the sandbox it is judged by what the sandbox leaves to ask; when that changes before it runs, nothing runs. Where the
 *    sandbox is wanted and cannot be had, nothing runs either.
 * I3 At most `REMEMBERED` judgements are kept; a forgotten one counts as changed.
 */
import type { SpawnOptions } from '../../../ports/effects.js'
import { type NativeHost, type PermissionNeed, type ToolContext, ToolError } from '../../../ports/plugin.js'
import { isWithin } from '../../../protocol/caller.js'
import { createLru } from '../../../kernel/lru.js'
import { type Confinement, grantsOf } from '../judge/confined.js'
import { createFileView } from '../words/file-view.js'
import { commandNeeds, commandPatterns } from '../judge/needs.js'
import { joinPath } from '../words/place.js'
import type { ShellScan, ShellScanner } from '../judge/scan.js'
import type { ShellEnvironment, Variables } from './environment.js'

const REMEMBERED = 4096
/** A line that says so may make a repository where it runs. */
const MAKES_REPOSITORY = /^git (?:.* )?init(?: |$)/
const PARTS = ['.git', 'HEAD', 'commondir']

interface CommandInput {
  readonly command: string
  /** Absolute, or relative to the session directory; absent = there. */
  readonly workdir?: string | undefined
  /** It asks for the network of the sandbox. */
  readonly network?: boolean | undefined
  /** It runs in the sandbox, whatever the configuration says. */
  readonly isConfined?: boolean
}

export interface Judgement {
  /** Canonical. */
  readonly directory: string
  readonly scan: ShellScan
  readonly confinement: Confinement | undefined
}

/** What is to be started. */
export interface ReadyCommand extends Judgement {
  readonly program: string
  readonly args: readonly string[]
  readonly holds: NonNullable<SpawnOptions['holds']>
  readonly env: Variables
  /** The shell that runs the line. */
  readonly shell: string
  /** Throws a `ToolError` when it would touch something else by now than what was judged. */
  check(): Promise<void>
}

export interface Commands {
  /** What must be allowed; remembers what it has judged for the call. */
  needs(input: CommandInput, context: ToolContext): Promise<readonly PermissionNeed[]>
  /** Throws a `ToolError` when the call was not judged, or would touch something else by now. */
  ready(input: CommandInput, context: ToolContext): Promise<ReadyCommand>
}

export interface CommandDeps {
  readonly host: Pick<NativeHost, 'effects' | 'protectedFiles' | 'namedPrograms' | 'sandbox' | 'shellEnvironment'>
  readonly scanner: ShellScanner
  readonly environment: ShellEnvironment
}

export function createCommands({ host, scanner, environment }: CommandDeps): Commands {
  const { effects, protectedFiles, sandbox } = host
  const view = createFileView(effects.files, host.namedPrograms)
  const judged = createLru<string, string>(REMEMBERED) // I3

  const analyse = async (input: CommandInput, context: ToolContext, variables: Variables): Promise<Judgement> => {
    const directory = await workingDirectory(effects, input.workdir, context)
    const place = { session: context.directory, directory, home: effects.paths.home, files: view }
    const found = await scanner.scan(input.command, { ...place, environment: new Set(Object.keys(variables)) })
    const outside = isWithin(context.directory, directory) ? found.outside : [...new Set([joinPath(directory, '*'), ...found.outside])]
    const scan = { ...found, outside }
    return { directory, scan, confinement: await confine(input, context, scan) }
  }

  /** How the sandbox confines the line; undefined = it is off. */
  const confine = async (input: CommandInput, context: ToolContext, scan: ShellScan): Promise<Confinement | undefined> => {
    if (input.isConfined !== true && context.bounds?.isConfined !== true && !(await sandbox.isOn(context.directory))) return undefined
    const network =
      input.network === true || context.decisions('network', commandPatterns(scan, input.command)).every((each) => each === 'allow')
    return { network, placeOf: sandbox.placeOf }
  }

  const lineOf = async (input: CommandInput, context: ToolContext, { directory, scan, confinement, shell, searchPath }: Confined) => {
    const args = ['-c', input.command]
    if (confinement === undefined) return { program: shell, args, holds: [] }
    const { network } = confinement
    const made = scan.segments.some(({ text }) => MAKES_REPOSITORY.test(text)) ? [directory, context.directory] : []
    const writes = [...scan.writes, ...made.flatMap((place) => PARTS.map((name) => joinPath(place, name)))]
    const granted = { ...grantsOf(scan, confinement), writes }
    const within = context.bounds?.roots
    const place = { cwd: directory, workspace: context.directory, ...(within !== undefined && { within }) }
    const line = await sandbox.wrap({ program: shell, args, ...place, network, searchPath, ...granted })
    if ('unavailable' in line) {
      const what = input.isConfined === true ? 'There is no sandbox' : 'The sandbox is switched on (permission.sandbox) and cannot be had'
      throw new ToolError(`${what}, so nothing was run: ${line.unavailable}`)
    }
    return { ...line, holds: line.holds ?? [] }
  }

  return {
    async needs(input, context) {
      const judgement = await analyse(input, context, await environment.variables())
      judged.set(keyOf(context), JSON.stringify(judgement))
      const { scan, confinement } = judgement
      const { command, network: asksNetwork = false } = input
      return commandNeeds({ command, session: context.directory, scan, protectedFiles, confinement, asksNetwork })
    },
    async ready(input, context) {
      const key = keyOf(context)
      const before = judged.get(key)
      if (before === undefined) throw notJudged()
      const { sessionId, callId, signal } = context
      const cwd = await workingDirectory(effects, input.workdir, context)
      const [shell, variables, added] = await Promise.all([
        environment.shell(),
        environment.variables(),
        host.shellEnvironment({ cwd, sessionId, callId, signal }),
      ])
      const env = { ...variables, ...added }
      const check = async () => {
        const judgement = await analyse(input, context, env)
        if (before !== JSON.stringify(judgement)) throw notJudged()
        return judgement
      }
      const judgement = await check() // I1
      judged.delete(key)
      const line = await lineOf(input, context, { ...judgement, shell, searchPath: env['PATH'] ?? '' }) // I2
      return { ...judgement, ...line, env, shell, check: async () => void (await check()) }
    },
  }
}

interface Confined extends Judgement {
  /** Absolute path of the shell. */
  readonly shell: string
  readonly searchPath: string
}

function notJudged(): ToolError {
  return new ToolError('What the command touches was not checked for this call, or has changed since. Nothing was run; call again.')
}

async function workingDirectory(effects: NativeHost['effects'], workdir: string | undefined, context: ToolContext): Promise<string> {
  if (workdir === undefined) return context.directory
  const path = /^~(?=\/|$)/.test(workdir) ? effects.paths.home + workdir.slice(1) : joinPath(context.directory, workdir)
  const directory = await effects.files.realPath(path).catch(() => undefined)
  const kind = directory === undefined ? undefined : (await effects.files.stat(directory))?.kind
  if (directory === undefined || kind !== 'directory') throw new ToolError(`The directory ${workdir} does not exist.`)
  return directory
}

function keyOf(context: ToolContext): string {
  return `${context.sessionId}\0${context.callId}`
}
