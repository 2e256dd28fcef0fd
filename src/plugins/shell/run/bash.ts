/** The tools `bash` and `sandbox_exec`: a command line that runs within the call (sessions-events §10.4, §10.5). */
import * as z from 'zod'
import type { ProcessResult } from '../../../ports/effects.js'
import { defineTool, type NativeHost, type ToolContribution, ToolError, type ToolResult } from '../../../ports/plugin.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { ChangeNotes } from '../../../protocol/session/snapshot.js'
import { watchCommand } from '../changes/watch-command.js'
import { displayText, TITLE_LENGTH } from '../parse/display.js'
import type { Confinement } from '../judge/confined.js'
import { alwaysPatterns, commandPatterns } from '../judge/needs.js'
import type { Commands, Judgement } from './commands.js'
import { joinOutput } from './joined-output.js'
import { createRunningOutput } from './running-output.js'

const { bashTimeout, bashTimeoutMax, captureBytes, outputBytes } = LIMITS.tools

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

const SANDBOXED = `Runs a command line as "bash" does, but always in a sandbox: of what lasts only the session directory can be written, little else can be seen,
and the network is closed unless "network" asks for it. For what should do no harm whatever it does: unknown scripts, builds, experiments.`

export interface BashTools {
  readonly host: Pick<NativeHost, 'effects' | 'git' | 'fileStates' | 'sandbox'>
  readonly commands: Commands
}

export function bashTool(tools: BashTools): ToolContribution {
  return commandTool(tools, { id: 'bash', description: DESCRIPTION, isConfined: false })
}

/** Only where there is a sandbox; `onMissing` is called when it is found not to work here. */
export function sandboxTool(tools: BashTools, onMissing: () => void): ToolContribution {
  const tool = commandTool(tools, { id: 'sandbox_exec', description: SANDBOXED, isConfined: true })
  return {
    ...tool,
    async needs(input, context) {
      const missing = await tools.host.sandbox.whyMissing()
      if (missing === undefined) return tool.needs(input, context)
      onMissing()
      throw new ToolError(`There is no sandbox, so nothing was run: ${missing}`)
    },
  }
}

interface CommandTool {
  readonly id: string
  readonly description: string
  readonly isConfined: boolean
}

function commandTool({ host, commands }: BashTools, { id, description, isConfined }: CommandTool): ToolContribution {
  const { effects } = host
  return defineTool<Input>({
    id,
    description,
    input: Input,
    permission: 'bash',
    notesChanges: true,
    needs: (input, context) => commands.needs({ ...input, isConfined }, context),
    async invoke(input, context) {
      const { sessionId, signal } = context
      const ready = await commands.ready({ ...input, isConfined }, context)
      const running = createRunningOutput(effects.clock, (output) => context.progress({ output }))
      try {
        signal.throwIfAborted()
        const { directory: session } = context
        const changes = await watchCommand(host, { sessionId, directory: session, scan: ready.scan }, signal)
        const result = await effects.processes.run({
          command: ready.program,
          args: ready.args,
          holds: ready.holds,
          cwd: ready.directory,
          env: ready.env,
          signal,
          timeoutMs: input.timeout ?? bashTimeout,
          captureBytes,
          onStdout: running.add,
          onStderr: running.add,
        })
        return settle(input, result, ready, await changes(result.aborted))
      } finally {
        running.stop()
      }
    },
  })
}

function settle(input: Input, result: ProcessResult, { directory, scan, confinement }: Judgement, changes: ChangeNotes): ToolResult {
  const output = joinOutput(result, captureBytes)
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
