/** What the model that writes a summary is asked, and what is taken of its answer (sessions-events §6.4). */
import { cut } from '../../../kernel/cut.js'
import { cutMiddle } from '../../../machines/session/compaction/tokens.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Message, Part } from '../../../protocol/message/message.js'

const SECTIONS = `## Goal
What the user wants, in their own words where the wording matters.
## Constraints and preferences
What the user demands, forbids or prefers.
## Progress
### Done
### In progress
Down to the file and function.
### Blocked
## Key decisions
Each with its reason.
## Next steps
In order.
## Critical context
Names, commands that work, errors and their causes, figures, whatever would be missed.
## Relevant files
Paths, with what each is for.`

const WRITE = `Write the summary from which the work goes on; the conversation is not shown any more. Use exactly these headings, in Markdown, and write "none" where there is nothing to say:

${SECTIONS}

Write in the language of the conversation. Keep names, paths, commands, numbers and error texts exact. Answer with the summary only.`

const UPDATE =
  'The summary so far stands before the conversation. Bring it up to date: keep what still holds, change what has changed, add what is new, and drop only what no longer matters.'

/** The last message of a request for a summary: what was said, and what is asked for. */
export function summaryPrompt(conversation: string, previous: string | undefined): string {
  return [
    ...(previous === undefined ? [] : [`<summary-so-far>\n${previous}\n</summary-so-far>`]),
    `<conversation>\n${conversation}\n</conversation>`,
    ...(previous === undefined ? [] : [UPDATE]),
    WRITE,
  ].join('\n\n')
}

/** A message as text; '' when it says nothing. Attached files are named only. */
export function toText({ info, parts }: Message): string {
  const said = parts.flatMap((part) => textOf(part))
  return said.length === 0 ? '' : `[${info.role}]\n${said.join('\n')}`
}

function textOf(part: Part): readonly string[] {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? [] : [part.text]
    case 'file':
      return [`[file: ${part.filename ?? part.mime}]`]
    case 'agent':
      return [`[agent: ${part.name}]`]
    case 'subtask':
      return [`[task for ${part.agent}: ${part.prompt}]`]
    case 'tool': {
      const { state } = part
      const output = state.status === 'completed' ? state.output : state.status === 'error' ? `failed: ${state.error}` : 'interrupted'
      const input = cutMiddle(JSON.stringify(state.input) ?? '', LIMITS.compaction.toolOutput)
      return [`[tool ${part.tool} ${input}]\n${cutMiddle(output, LIMITS.compaction.toolOutput)}`]
    }
    default:
      return []
  }
}

const THINKING = /<(think|thinking|reasoning)>[\s\S]*?(<\/\1>|$)/gi
const FENCE = /^\s*(```|~~~)[\w-]*\s*$/
/** Calls of tools that a model wrote as text. */
const MARKUP = /^\s*(<\/?(tool_call|tool_calls|function_calls?|invoke|parameter|tool_response)\b|<\|[\w▁]+\|>|\[TOOL_CALLS\])/i
const CUT = '\n\n[The summary was longer and is cut here.]'

/** The summary in an answer: without thoughts, fences and tool markup, at most `limit` characters. */
export function cleanSummary(answer: string, limit: number = LIMITS.compaction.summary): string {
  const lines = answer
    .replaceAll(THINKING, '')
    .split('\n')
    .filter((line) => !FENCE.test(line) && !MARKUP.test(line))
  const text = lines.join('\n').trim()
  return text.length <= limit ? text : cut(text, Math.max(0, limit - CUT.length), CUT)
}
