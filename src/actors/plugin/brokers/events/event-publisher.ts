/** Events of plugins: `plugin.<namespace>.<name>`, within the namespaces of the manifest (plugin-protocol §2.5, §12-6). */
import { SvcError } from '../../../../protocol/errors.js'

const LONGEST = 256
const PART = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/

/** The type of an event a plugin publishes. Throws `request.unprocessable`, or `request.forbidden` outside its namespaces. */
export function publishedEventType(namespace: string, name: string, allowed: readonly string[]): string {
  const inside = named('namespace', namespace)
  const event = named('name', name)
  const isDeclared = allowed.some((entry) => {
    const root = trimDots(entry)
    return root !== '' && (inside === root || inside.startsWith(`${root}.`))
  })
  if (!isDeclared)
    throw new SvcError('request.forbidden', `events of the namespace "${inside}" are not declared in agent.eventNamespaces of the manifest`)
  return `plugin.${inside}.${event}`
}

function named(what: string, text: string): string {
  const trimmed = trimDots(text)
  if (trimmed.length > LONGEST || !PART.test(trimmed))
    throw new SvcError(
      'request.unprocessable',
      `the ${what} of an event has 1 to ${LONGEST} letters, digits, "_", "-" and single dots between them`,
    )
  return trimmed
}

function trimDots(text: string): string {
  let start = 0
  let end = text.length
  while (text[start] === '.') start++
  while (end > start && text[end - 1] === '.') end--
  return text.slice(start, end)
}
