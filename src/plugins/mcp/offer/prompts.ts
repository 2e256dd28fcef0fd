/** Prompts of servers as commands: `/mcp__<server>__<prompt> value name=value` (subsystems f.4). */
import type { Prompt } from '@modelcontextprotocol/client'
import { SvcError, toFailure } from '../../../protocol/errors.js'
import type { Connection } from '../servers/connection.js'
import type { CommandPart } from '../../../ports/contributions.js'
import { showContent } from './results.js'

const WORD = /"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g
const NAMED = /^([A-Za-z0-9_-]+)=([\s\S]*)$/

/** What the server makes of a prompt, as parts of a prompt of the user. Throws `request.unprocessable`. */
export async function renderPrompt(
  connection: Connection,
  prompt: Prompt,
  written: string,
  signal: AbortSignal,
): Promise<readonly CommandPart[]> {
  const given = readArguments(prompt, written)
  const missing = (prompt.arguments ?? [])
    .filter(({ name, required }) => required === true && !Object.hasOwn(given, name))
    .map(({ name }) => name)
  if (missing.length > 0) {
    const message = `The prompt "${prompt.name}" of "${connection.server}" needs ${missing.map((name) => `"${name}"`).join(', ')}: write them in order, or as name=value.`
    throw new SvcError('request.unprocessable', message, { missing })
  }
  try {
    const { timeout } = connection.config
    const { messages } = await connection.use((client) => client.getPrompt({ name: prompt.name, arguments: given }, { signal, timeout }))
    return messages.flatMap(({ role, content }): CommandPart[] => {
      const { text, attachments } = showContent([content])
      const files = attachments.map(({ mime, url, filename }) => ({ type: 'file' as const, mime, url, filename: filename ?? 'attachment' }))
      return [...(text === '' ? [] : [{ type: 'text' as const, text: role === 'user' ? text : `[${role}] ${text}` }]), ...files]
    })
  } catch (error) {
    if (error instanceof SvcError) throw error
    const message = `The server "${connection.server}" did not give the prompt "${prompt.name}": ${toFailure(error).message}`
    throw new SvcError('request.unprocessable', message, { server: connection.server })
  }
}

/** In order, or by name; the last of those in order takes what is left. */
export function readArguments(prompt: Pick<Prompt, 'arguments'>, written: string): Record<string, string> {
  const known = (prompt.arguments ?? []).map(({ name }) => name)
  /** Names are the server's: "constructor" is one like any other. */
  const given = new Map<string, string>()
  const others: string[] = []
  for (const [, double, single, plain = ''] of written.matchAll(WORD)) {
    const named = double === undefined && single === undefined ? NAMED.exec(plain) : null
    if (named?.[1] !== undefined && known.includes(named[1])) given.set(named[1], named[2] ?? '')
    else others.push(double?.replace(/\\(.)/g, '$1') ?? single ?? plain)
  }
  const open = known.filter((name) => !given.has(name))
  open.forEach((name, index) => {
    const value = index === open.length - 1 ? others.slice(index).join(' ') : others[index]
    if (value !== undefined && value !== '') given.set(name, value)
  })
  return Object.fromEntries(given)
}
