/**
 * Tool `bash`: runs a command line in the session directory (sessions-events §10.5).
 *
 * I1 A command is analysed before it is judged, and again before it runs: when it would touch something else
 *    than what was judged (a link changed, files came), nothing runs.
 * I2 In the sandbox it is judged by what the sandbox leaves to ask; when that changes before it runs, nothing runs. Where the
 *    sandbox is wanted and cannot be had, nothing runs either.
 * I3 At most `REMEMBERED` judgements are kept; a forgotten one counts as changed.
 */
import * as z from 'zod'
import type { ProcessResult } from '../../../actors/effects.js'
import {
  defineTool,
  type NativeHost,
  type ToolContext,
  type ToolContribution,
  ToolError,
  type ToolResult,
} from '../../../actors/plugin/native/native.js'
import { isWithin } from '../../../protocol/caller.js'
import { LIMITS } from '../../../protocol/limits.js'
import { createLru } from '../../../protocol/lru.js'
import type { ChangeNotes } from '../../../protocol/session/snapshot.js'
import { watchCommand } from '../changes/watch-command.js'
import { displayText } from './display.js'
import type { ShellEnvironment, Variables } from './environment.js'
import { type Confinement, grantsOf } from '../judge/confined.js'
import { createFileView } from '../judge/file-view.js'
import { alwaysPatterns, commandNeeds, commandPatterns } from '../judge/needs.js'
import { joinPath } from '../judge/place.js'
import { createRunningOutput } from './running-output.js'
import type { ShellScan, ShellScanner } from '../judge/scan.js'

const { bashTimeout, bashTimeoutMax, captureBytes, outputBytes } = LIMITS.tools
const REMEMBERED = 4096
const TITLE_LENGTH = 200

const Input = z.strictObject({
  command: z.string().min(1).max(100_000).describe('The command line, for bash.'),
  timeout: z.number().int().min(1).max(bashTimeoutMax).optional().describe(`Milliseconds until it is stopped. Default ${bashTimeout}.`),
  workdir: z.string().min(1).max(4096).optional().describe('Directory to run in: absolute, or relative to the session directory.'),
  network: z
    .boolean()
    .optional()
    .describe('Where commands run in a sandbox: whether this one needs the network, which may have to be asked for.'),
  description: z.string().max(500).optional().describe('What the command does, in five to ten words.'),
})
type Input = z.infer<typeof Input>

const DESCRIPTION = `Runs a command line in a shell and returns its output.
- Every call starts anew in the session directory; use workdir instead of "cd". Standard input is closed: pass options that need no answers.
- Quote paths with blanks. Join dependent commands with "&&".
- Read, search and change files with the tools made for that, not with cat, grep, find, sed or redirections.
- Long output is cut in the middle; the whole of it stays readable in a file that is named then.`

export interface BashTools {
  readonly host: Pick<NativeHost, 'effects' | 'protectedFiles' | 'namedPrograms' | 'sandbox' | 'shellEnvironment' | 'git' | 'fileStates'>
  readonly scanner: ShellScanner
  readonly environment: ShellEnvironment
}

export function bashTool({ host, scanner, environment }: BashTools): ToolContribution {
  const { effects, protectedFiles, sandbox } = host
  const view = createFileView(effects.files, host.namedPrograms)
  const judged = createLru<string, string>(REMEMBERED) // I3

  const analyse = async (input: Input, context: ToolContext, variables: Variables) => {
    const directory = await workingDirectory(effects, input.workdir, context)
    const place = { session: context.directory, directory, home: effects.paths.home, files: view }
    const found = await scanner.scan(input.command, { ...place, environment: new Set(Object.keys(variables)) })
    const outside = isWithin(context.directory, directory) ? found.outside : [...new Set([joinPath(directory, '*'), ...found.outside])]
    const scan = { ...found, outside }
    return { directory, scan, confinement: await confine(input, context, scan) }
  }

  /** How the sandbox confines the line; undefined = it is off. */
  const confine = async (input: Input, context: ToolContext, scan: ShellScan): Promise<Confinement | undefined> => {
    if (!(await sandbox.isOn(context.directory))) return undefined
    const network =
      input.network === true || context.decisions('network', commandPatterns(scan, input.command)).every((each) => each === 'allow')
    return { network, placeOf: sandbox.placeOf }
  }

  const commandLine = async (input: Input, context: ToolContext, { directory, scan, confinement, command, searchPath }: Confined) => {
    const args = ['-c', input.command]
    if (confinement === undefined) return { program: command, args }
    const { network } = confinement
    const granted = { ...grantsOf(scan, confinement), writes: scan.writes }
    const line = await sandbox.wrap({
      program: command,
      args,
      cwd: directory,
      workspace: context.directory,
      network,
      searchPath,
      ...granted,
    })
    if ('unavailable' in line)
      throw new ToolError(`The sandbox is switched on (permission.sandbox) and cannot be had, so nothing was run: ${line.unavailable}`)
    return line
  }

  return defineTool<Input>({
    id: 'bash',
    description: DESCRIPTION,
    input: Input,
    permission: 'bash',
    notesChanges: true,
    async needs(input, context) {
      const judgement = await analyse(input, context, await environment.variables())
      judged.set(keyOf(context), JSON.stringify(judgement))
      const { scan, confinement } = judgement
      const { command, network: asksNetwork = false } = input
      return commandNeeds({ command, session: context.directory, scan, protectedFiles, confinement, asksNetwork })
    },
    async invoke(input, context) {
      const key = keyOf(context)
      if (judged.get(key) === undefined) throw notJudged()
      const { sessionId, callId, signal } = context
      const cwd = await workingDirectory(effects, input.workdir, context)
      const [command, variables, added] = await Promise.all([
        environment.shell(),
        environment.variables(),
        host.shellEnvironment({ cwd, sessionId, callId, signal }),
      ])
      const env = { ...variables, ...added }
      const judgement = await analyse(input, context, env) // I1
      if (judged.get(key) !== JSON.stringify(judgement)) throw notJudged()
      judged.delete(key)
      const { directory } = judgement
      const line = await commandLine(input, context, { ...judgement, command, searchPath: env['PATH'] ?? '' }) // I2
      const running = createRunningOutput(effects.clock, (output) => context.progress({ output }))
      try {
        signal.throwIfAborted()
        const { directory: session } = context
        const changes = await watchCommand(host, { sessionId, directory: session, scan: judgement.scan }, signal)
        const result = await effects.processes.run({
          command: line.program,
          args: line.args,
          cwd: directory,
          env,
          signal,
          timeoutMs: input.timeout ?? bashTimeout,
          captureBytes,
          onStdout: running.add,
          onStderr: running.add,
        })
        return settle(input, result, judgement, await changes(result.aborted))
      } finally {
        running.stop()
      }
    },
  })
}

interface Judgement {
  readonly directory: string
  readonly scan: ShellScan
  readonly confinement: Confinement | undefined
}

interface Confined extends Judgement {
  /** Absolute path of the shell. */
  readonly command: string
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

function settle(input: Input, result: ProcessResult, { directory, scan, confinement }: Judgement, changes: ChangeNotes): ToolResult {
  const output = joinOutput(result)
  const timeout = input.timeout ?? bashTimeout
  const metadata = {
    command: input.command,
    ...(input.description !== undefined && { description: input.description }),
    exit: result.exitCode,
    timeout,
    workdir: directory,
    captureTruncated: result.captureTruncated,
    ...(result.left.length > 0 && { left: result.left }),
    ...(confinement !== undefined && { sandbox: { network: confinement.network } }),
    alwaysPatterns: alwaysPatterns(scan),
    commandPatterns: commandPatterns(scan, input.command),
    externalDirectories: scan.outside,
    ...changes,
  }
  const failed = (message: string) => {
    const cut = lastPart(output)
    return new ToolError(`${message}\n\n${cut.text}${confinement === undefined ? '' : `\n\n${walls(confinement)}`}`, {
      ...metadata,
      truncated: cut.truncated,
    })
  }
  if (result.aborted) throw failed('The command was stopped because the run was aborted. Its output so far:')
  if (result.timedOut) throw failed(`The command was stopped after ${timeout} ms. Its output so far:`)
  if (result.exitCode === null) throw failed(`The command was ended by the signal ${result.signal ?? '(unknown)'}. Its output:`)
  if (result.exitCode !== 0) throw failed(`The command failed with exit status ${result.exitCode}. Its output:`)
  return { title: displayText(input.description ?? input.command, TITLE_LENGTH), output, metadata }
}

/** What may be why a command in the sandbox failed. */
function walls({ network }: Confinement): string {
  const closed = network ? '' : ' The network was closed; set "network" to ask for it.'
  return `(It ran in a sandbox: of what lasts only the session directory can be written, and little else can be seen.${closed})`
}

/** Standard output, a newline, standard error; the cut of a full capture is said. */
function joinOutput({ stdout, stderr, captureTruncated, left }: ProcessResult): string {
  const text = [stdout.trimEnd(), stderr.trimEnd()].filter((part) => part !== '').join('\n')
  const cut = captureTruncated ? `\n(More than ${captureBytes} bytes were printed; the rest was dropped.)` : ''
  const alive = left.map(
    ({ pid, command }) => `\n(Still running, out of reach of this server: process ${pid}, ${displayText(command, TITLE_LENGTH)})`,
  )
  return (text || '(no output)') + cut + alive.join('')
}

/** The end of an output within the limits of a result, since errors stand last. */
function lastPart(output: string): { readonly text: string; readonly truncated: boolean } {
  const lines = output.split('\n')
  const text = lines.slice(-LIMITS.tools.outputLines).join('\n')
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= outputBytes && lines.length <= LIMITS.tools.outputLines) return { text: output, truncated: false }
  const tail =
    bytes.length <= outputBytes ? text : new TextDecoder().decode(bytes.subarray(bytes.length - outputBytes)).replace(/^\ufffd+/, '')
  return { text: `... the beginning was cut ...\n${tail}`, truncated: true }
}

function keyOf(context: ToolContext): string {
  return `${context.sessionId}\0${context.callId}`
}
