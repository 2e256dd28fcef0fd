/** Splits prompts of the offline model into requests it understands; the rules are in `rules.ts`. */
import { RULES, type Understood } from './rules.js'

export type OfflineRequest = Understood | { readonly help: true } | { readonly attached: string } | { readonly unclear: string }

const MAX_REQUESTS = 50
/** Characters of a line beyond which only rules that take text are tried, so that no line costs much time. */
const LONG = 2000
const POLITENESS = /^(?:[-*]\s+|\d+[.)]\s+)?(?:(?:please|now|also|and|then|first|next|finally|can you|could you)[\s,]+)*/i
/** How a file or picture that was sent along is named in the text of a prompt. */
const ATTACHED = /^\[(?:file|image): (.+)\]$/
/** What stands in the place of one that no model took: the line above has named it. */
const UNSENT = /^\[.+ was not sent: the model does not take it\]$/
const LIST_ITEM = /^\s*\d+[.)]\s/

/** One request per line or list item; the lines after `write <file>:` are its content. */
export function understand(prompt: string): OfflineRequest[] {
  const requests: OfflineRequest[] = []
  const lines = prompt.split('\n')
  for (let index = 0; index < lines.length && requests.length < MAX_REQUESTS; index++) {
    let line = (lines[index] ?? '').trim()
    if (line === '' || (line.length <= LONG && UNSENT.test(line))) continue
    if (/^(?:write|create)\b.*:$/i.test(line.replace(POLITENESS, ''))) {
      const end = contentEnd(lines, index + 1)
      line = [line, ...lines.slice(index + 1, end)].join('\n')
      index = end - 1
    }
    requests.push(...understandLine(line))
  }
  return requests
}

function understandLine(line: string): OfflineRequest[] {
  const pieces = line.includes('\n') || line.length > LONG ? [line] : line.split(/\s*[,;.]?\s+(?:and\s+)?then\s+/i)
  const several = pieces.map(understandOne)
  return several.every((request) => !('unclear' in request)) ? several : [understandOne(line)]
}

function understandOne(text: string): OfflineRequest {
  const request = text.trim().replace(POLITENESS, '')
  if (/^(?:help|hello|hi|hey|what can you do|who are you)\b/i.test(request)) return { help: true }
  const attached = request.length > LONG ? undefined : ATTACHED.exec(request)?.[1]
  if (attached !== undefined) return { attached }
  for (const { pattern, make, long } of RULES) {
    if (request.length > LONG && long === undefined) continue
    const match = pattern.exec(request)
    const made = match === null ? undefined : make({ ...match.groups })
    if (made !== undefined) return made
  }
  return { unclear: request }
}

/** Content goes on to the end of a fenced block, or to the next list item or understood line. */
function contentEnd(lines: readonly string[], start: number): number {
  if (lines[start]?.startsWith('```') === true) {
    const close = lines.findIndex((line, index) => index > start && line.startsWith('```'))
    return close === -1 ? lines.length : close + 1
  }
  const next = lines.findIndex((line, index) => index >= start && (LIST_ITEM.test(line) || !('unclear' in understandOne(line))))
  return next === -1 ? lines.length : next
}
