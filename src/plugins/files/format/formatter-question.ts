/**
 * Asks in a run for a formatter that would run code of the workspace (choice 34), before its file is changed.
 *
 * I1 Whatever is answered, the change is made: without the act it stays as it was written.
 * I2 A session is asked once for what would run; another command or another environment is asked about again.
 * I3 Nobody is asked where a rule of the run denies the line, where the program is missing, or where nobody answers.
 */
import { type NativeHost, type ToolContext, ToolError } from '../../../ports/plugin.js'
import type { ProjectProgram } from '../../../ports/programs.js'
import { lineText } from '../../../machines/acceptance/standing.js'
import type { Formatter } from '../../../protocol/format/formatters.js'
import { createLru } from '../../../kernel/lru.js'
import type { Target } from '../places/targets.js'
import { formatterProgram } from './formatter-program.js'
import { judgeFormatter } from './guards.js'

/** Asks for each that fits one of the files and waits for an act. Never rejects. */
export type FormatterQuestion = (
  wanted: readonly { readonly target: Pick<Target, 'path'>; readonly formatters: readonly Formatter[] }[],
  context: ToolContext,
) => Promise<void>

type Host = Pick<NativeHost, 'installationConfig' | 'questions' | 'programs'> & {
  readonly effects: Pick<NativeHost['effects'], 'files'>
}

const REMEMBERED = 1024
const ALLOW = 'Allow'

export function createFormatterQuestion(host: Host): FormatterQuestion {
  const { programs, questions, effects } = host
  const asked = createLru<string, Promise<void>>(REMEMBERED)

  async function askOnce(formatter: Formatter, path: string, context: ToolContext): Promise<void> {
    const verdict = await judgeFormatter(formatter, path, effects.files)
    if (verdict.type !== 'refused') return
    const program = await formatterProgram(host, formatter, context.directory, verdict)
    const { state, revision } = await programs.standing(program)
    if (state !== 'waiting') return
    if ((await programs.find(formatter.command[0] ?? '', context.directory)) === undefined) return // I3
    if (await programs.isDenied(program, context)) return
    const key = [context.sessionId, context.directory, program.name, revision].join('\0')
    const before = asked.get(key)
    if (before !== undefined) return before // I2
    const asking = ask(program, verdict.reason, context).catch(() => {
      asked.delete(key) // It was not answered: the call has ended, or the service stops.
    })
    asked.set(key, asking)
    return asking
  }

  async function ask(program: ProjectProgram, reason: string, context: ToolContext): Promise<void> {
    const { kind, name, directory, commands } = program
    const line = commands.map(lineText).join('; ')
    const question = {
      header: 'Formatter',
      question: `May the formatter "${name}" run in this workspace, now and later? ${line}\nIt would run code of the workspace, and nobody has accepted that: ${reason}`,
      options: [{ label: ALLOW }, { label: 'Not in this session', description: 'files stay as they are written' }],
      acceptance: { kind, name, directory, command: line },
    }
    try {
      const [answer = []] = await questions.ask(context, [question])
      if (answer.length === 1 && answer[0] === ALLOW) programs.accept(program)
    } catch (error) {
      if (!(error instanceof ToolError) || context.signal.aborted) throw error
    }
  }

  return async (wanted, context) => {
    if (context.unattended === true) return // I3
    for (const { target, formatters } of wanted) {
      for (const formatter of formatters) {
        if (context.signal.aborted) return
        await askOnce(formatter, target.path, context)
      }
    }
  }
}
