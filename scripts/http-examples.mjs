/** The examples of docs/http.md: requests and answers as `test/e2e/contract/examples.ts` has recorded them. */
import { readFileSync } from 'node:fs'

const WIDTH = 150
const SHOWN_HEADERS = new Set(['content-type', 'if-match', 'last-event-id', 'x-svc-ticket', 'x-svc-filename'])

const examples = JSON.parse(readFileSync(new URL('http-examples.json', import.meta.url), 'utf8'))

/** One request and its answer as a block; nothing for an operation without an example. */
export function exampleOf(operation) {
  const example = examples[operation.operationId]
  if (example === undefined) return []
  const { method, path, headers = {}, body, status } = example
  const shown = Object.entries(headers).filter(([name]) => SHOWN_HEADERS.has(name))
  const lines = [
    `${method} ${path}`,
    ...shown.map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : [textOf(body)]),
    '',
    `→ ${status}`,
    ...answerLines(example, operation.responses[status]),
  ]
  return [['```http', ...lines, '```'].join('\n')]
}

function answerLines({ answer, status }, described) {
  if (answer === undefined) return status === 200 ? ['…'] : []
  const isStream = described?.content?.['text/event-stream'] !== undefined
  return [isStream ? `data: ${JSON.stringify(answer)}` : textOf(answer)]
}

function textOf(value) {
  return typeof value === 'string' ? value : compact(value, '')
}

/** JSON that breaks its lines only where one would be too long. */
function compact(value, indent) {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Array.isArray(value)
    ? value.map((each) => ['', each])
    : Object.entries(value).map(([key, each]) => [`${JSON.stringify(key)}: `, each])
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  if (entries.length === 0) return `${open}${close}`
  const line = `${open} ${entries.map(([key, each]) => `${key}${compact(each, ' '.repeat(10_000))}`).join(', ')} ${close}`
  if (!line.includes('\n') && indent.length + line.length <= WIDTH) return line
  if (indent.length > WIDTH) return line
  const deeper = `${indent}  `
  return `${open}\n${entries.map(([key, each]) => `${deeper}${key}${compact(each, deeper)}`).join(',\n')}\n${indent}${close}`
}
