/** The requests the offline model knows, each with the tool call it stands for (sessions-events §10.4). */
import { parseForeign } from '../../../protocol/text/foreign-json.js'

export interface Understood {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  /** What is being done, as the middle of a sentence. */
  readonly label: string
}

interface Rule {
  /** Takes text of any length; the others are not tried on long lines. */
  readonly long?: true
  readonly pattern: RegExp
  /** Undefined where the words fit and what they carry does not. */
  readonly make: (groups: Readonly<Record<string, string | undefined>>) => Understood | undefined
}

/** A word, or anything in quotes. */
const quotable = (name: string) => `(?<${name}>"[^"]+"|'[^']+'|\`[^\`]+\`|\\S+?)`
const rule = (source: string, make: Rule['make']): Rule => ({ pattern: new RegExp(`^${source}$`, 'i'), make })
const longRule = (source: string, make: Rule['make']): Rule => ({ ...rule(source, make), long: true })

const FILE = `(?:the\\s+)?(?:file\\s+)?${quotable('path')}`
const IN = `(?:\\s+(?:in|of)\\s+${quotable('path')})?\\s*[.!?]?`

export const RULES: readonly Rule[] = [
  longRule(`(?:write|create)\\s+${FILE}\\s*:[^\\S\\n]?(?<content>[^]*)`, ({ path, content = '' }) => ({
    tool: 'write',
    input: { filePath: bare(path), content: unfence(content) },
    label: `writing ${bare(path)}`,
  })),
  rule(
    `edit\\s+${FILE}\\s*[:,]?\\s*replace\\s+(?<from>"[^"]+"|'[^']+')\\s+(?:with|by)\\s+(?<to>"[^"]*"|'[^']*')(?<all>\\s+everywhere)?\\.?`,
    ({ path, from = '', to = '', all }) => ({
      tool: 'edit',
      input: {
        filePath: bare(path),
        oldString: from.slice(1, -1),
        newString: to.slice(1, -1),
        ...(all === undefined ? {} : { replaceAll: true }),
      },
      label: `editing ${bare(path)}`,
    }),
  ),
  rule(
    `(?:list|ls)(?:\\s+(?:all\\s+)?(?:the\\s+)?(?:files?|directory|folder)(?:\\s+(?:in|of))?)?(?:\\s+${quotable('path')})?\\s*[.!?]?`,
    ({ path = '.' }) => ({ tool: 'read', input: { filePath: bare(path) }, label: `listing ${bare(path)}` }),
  ),
  rule(`(?:search|grep|look)\\s+(?:for\\s+)?(?<pattern>"[^"]+"|'[^']+'|\`[^\`]+\`|.+?)${IN}`, ({ pattern, path }) => ({
    tool: 'grep',
    input: { pattern: bare(pattern), ...inDirectory(path) },
    label: `searching for "${bare(pattern)}"`,
  })),
  rule(`find\\s+(?:files?\\s+)?(?:named\\s+|like\\s+|matching\\s+)?${quotable('pattern')}${IN}`, ({ pattern, path }) => ({
    tool: 'glob',
    input: { pattern: bare(pattern), ...inDirectory(path) },
    label: `finding files like ${bare(pattern)}`,
  })),
  longRule(`(?:run|execute|bash|\\$)\\s*:?\\s+(?:\`(?<ticked>[^\`]+)\`|(?<typed>[^]+))`, ({ ticked, typed = '' }) => {
    const command = ticked ?? typed
    return { tool: 'bash', input: { command, description: `Run ${command}`.slice(0, 80) }, label: `running \`${command}\`` }
  }),
  rule(
    `ask(?:\\s+me)?(?::\\s*|\\s+)(?<question>.+?)\\s*(?:\\((?<options>[^()]*/[^()]*)\\))?\\s*`,
    ({ question = '', options = 'Yes / No' }) => {
      const choices = options.split('/').map((label) => ({ label: label.trim(), description: label.trim() }))
      return {
        tool: 'question',
        input: { questions: [{ question, header: question.slice(0, 30), options: choices }] },
        label: `asking "${question}"`,
      }
    },
  ),
  rule(`(?:plan|todos?)\\s*:\\s*(?<items>.+)`, ({ items = '' }) => {
    const contents = items.split(/\s*[;,]\s*/).filter(Boolean)
    return {
      tool: 'todowrite',
      input: { todos: contents.map((content) => ({ content, status: 'pending', priority: 'medium' })) },
      label: 'writing the plan down',
    }
  }),
  rule(`delegate\\s+(?:to\\s+(?<agent>[\\w-]+)\\s*:\\s*)?(?<prompt>.+)`, ({ agent = 'general', prompt = '' }) => ({
    tool: 'task',
    input: { description: prompt.slice(0, 60), prompt, subagent_type: agent, background: false },
    label: `delegating "${prompt}"`,
  })),
  rule(
    `call\\s+(?:the\\s+)?(?:tool\\s+)?(?<tool>[\\w-]+)(?:\\s+(?:with\\s+)?(?<input>\\{.*\\}))?\\s*[.!?]?`,
    ({ tool = '', input = '{}' }) => {
      const read = objectOf(input)
      return read === undefined ? undefined : { tool, input: read, label: `calling ${tool}` }
    },
  ),
  rule(
    `(?:read|open|show|view|cat)\\s+(?:me\\s+)?${FILE}(?:\\s+from\\s+line\\s+(?<from>\\d+)(?:\\s+to\\s+(?:line\\s+)?(?<to>\\d+))?)?\\s*[.!?]?`,
    ({ path, from, to }) => ({ tool: 'read', input: { filePath: bare(path), ...lineRange(from, to) }, label: `reading ${bare(path)}` }),
  ),
]

/** Without quotes, and without the `@` that names a file in a prompt. */
function bare(text = ''): string {
  const plain = /^(["'`])[^]*\1$/.test(text) && text.length > 1 ? text.slice(1, -1) : text
  return plain.replace(/^@(?=.)/, '')
}

/** JSON of an object; undefined for anything else. */
function objectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = parseForeign(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

function inDirectory(path: string | undefined): { path?: string } {
  return path === undefined ? {} : { path: bare(path) }
}

function lineRange(from: string | undefined, to: string | undefined): { offset?: number; limit?: number } {
  if (from === undefined) return {}
  return { offset: Number(from), ...(to === undefined ? {} : { limit: Math.max(1, Number(to) - Number(from) + 1) }) }
}

function unfence(content: string): string {
  const body = content.replace(/^\n/, '')
  return /^```[^\n]*\n([^]*?)```\s*$/.exec(body)?.[1] ?? body
}
