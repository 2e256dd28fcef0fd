/** What the offline model knows of a conversation: it is read anew from the messages of every request. */
import { RUNTIME_MARK } from '../../../protocol/text/runtime-marks.js'
import type { GenerateRequest, ModelMessage, ToolResultContent } from '../../../ports/provider-adapter.js'

export interface Conversation {
  /** Text of the prompt that is being worked on. */
  readonly prompt: string
  /** Model steps already made for that prompt. */
  readonly steps: number
  /** Results of the tools called for that prompt, in order. */
  readonly results: readonly ToolResultContent[]
  /** Texts of all prompts, oldest first. */
  readonly prompts: readonly string[]
  /** It is to be given a title, and nothing else. */
  readonly isTitled: boolean
  /** What the runtime told, where that is the prompt: nobody asks for anything in it. */
  readonly told?: string | undefined
}

/** What svc asks a model for that is to make a title. */
const TITLE = /^Write a title for the conversation\b/

/** Prompts that only ask to go on where the last answer stopped; they begin nothing new. */
const CONTINUATION = /^\W*(please\s+)?(continue|go on|carry on)\b|continue (exactly |right )?(where|from where) (you|it|the)/i

/** Reads the conversation of a request. A prompt that says "continue" carries the one before it on. */
export function readConversation({ messages }: Pick<GenerateRequest, 'messages'>): Conversation {
  const prompts = messages.flatMap((message, index) => {
    const text = promptText(message)
    return text === undefined ? [] : [{ text, index }]
  })
  const current = prompts.findLast(({ text }) => !CONTINUATION.test(text)) ?? prompts.at(-1)
  const told = toldIn(prompts.at(-1)?.text ?? '')
  if (told !== undefined) return { prompt: SUMMARISE, steps: 0, results: [], prompts: [...told, SUMMARISE], isTitled: false }
  const since = messages.slice(current === undefined ? 0 : current.index + 1)
  return {
    prompt: current?.text ?? '',
    steps: since.filter((message) => message.role === 'assistant').length,
    results: since.flatMap((message) => (message.role === 'tool' ? message.results : [])),
    prompts: prompts.map(({ text }) => text),
    told: toldBy(current?.text ?? ''),
    isTitled: messages.some((message) => message.role === 'system' && TITLE.test(message.text)),
  }
}

function toldBy(text: string): string | undefined {
  const [mark, close] = [`<${RUNTIME_MARK}>`, `</${RUNTIME_MARK}>`]
  return text.startsWith(mark) ? text.slice(mark.length, text.lastIndexOf(close)).trim() : undefined
}

const SUMMARISE = 'Summarise.'
const TOLD = /^(?:<summary-so-far>\n([\s\S]*?)\n<\/summary-so-far>\n\n)?<conversation>\n([\s\S]*)\n<\/conversation>/

/** What users said in a conversation that is to be compacted, after what the summary before lists; undefined = that is not asked. */
function toldIn(text: string): readonly string[] | undefined {
  const found = TOLD.exec(text)
  if (found === null) return undefined
  const listed = (found[1] ?? '').split('\n').flatMap((line) => (line.startsWith('- ') ? [line.slice(2)] : []))
  const said = (found[2] ?? '').split(/(?<=^|\n)\[(user|assistant)\]\n/)
  return [...listed, ...said.flatMap((words, index) => (said[index - 1] === 'user' ? [words.trim()] : []))]
}

function promptText(message: ModelMessage): string | undefined {
  if (message.role !== 'user') return undefined
  const text = message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  return text.trim() === '' ? undefined : text
}
