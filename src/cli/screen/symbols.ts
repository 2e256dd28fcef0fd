/** What a file defines, as far as a language server tells: asked once for each file that is named while somebody types, and again where nobody knew. */
import type { Conversation } from './talk/conversation.js'

/** What is known by now; `onChange` when it is more. */
export function createSymbols(conversation: Conversation, onChange: () => void): (file: string) => readonly string[] {
  const known = new Map<string, readonly string[]>()
  return (file) => {
    const { client, directory } = conversation
    const names = known.get(file)
    if (names !== undefined || client === undefined || file === '') return names ?? []
    known.set(file, [])
    client.plugins.lsp
      .documentSymbols({ directory, file })
      .then((symbols) => {
        known.set(
          file,
          symbols.map(({ name }) => name),
        )
        onChange()
      })
      .catch(() => known.delete(file)) // Nothing is offered where nobody knows; with the next key it is asked again.
    return []
  }
}
