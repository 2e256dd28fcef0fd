/** A prompt that begins with `/name`: the server runs that command, and takes a name it does not know for text. */
import type { Client } from '../../../published/client/client-types.js'
import { meant } from '../../line/nearest.js'

/** What to say before it is sent: that no command has this name; undefined when there is nothing to say. */
export async function doubtfulCommand(client: Client, directory: string, text: string): Promise<string | undefined> {
  const [, name] = /^\/([\w:.-]+)(?:\s|$)/.exec(text) ?? []
  if (name === undefined) return undefined
  const names = (await client.commands.list({ directory })).map((command) => command.name)
  if (names.includes(name)) return undefined
  const near = meant(name, names, (command) => `/${command}`)
  return `there is no command /${name}${near === '' ? ' (svc commands lists them).' : near} It is sent as text`
}
