/** A prompt that begins with `/name`: the server runs that command, and takes a name it does not know for text. */
import type { Client } from '../../client/client-types.js'
import { meant } from '../table/nearest.js'

/** What to say before it is sent: a name that is near another one; undefined when there is nothing to say. */
export async function doubtfulCommand(client: Client, directory: string, text: string): Promise<string | undefined> {
  const [, name] = /^\/([\w:.-]+)(?:\s|$)/.exec(text) ?? []
  if (name === undefined) return undefined
  const names = (await client.commands.list({ directory })).map((command) => command.name)
  if (names.includes(name)) return undefined
  const near = meant(name, names, (command) => `/${command}`)
  return near === '' ? undefined : `there is no command /${name}${near} It is sent as text`
}
