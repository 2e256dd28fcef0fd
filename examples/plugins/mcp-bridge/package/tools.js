/** What is offered. `call` answers a text; what it throws is shown to the model of the client. */

const MOST = 100_000

export const TOOLS = [
  {
    name: 'list_files',
    description: 'Lists the names in a folder of the workspace.',
    inputSchema: { type: 'object', properties: { path: { type: 'string', description: 'Seen from the workspace; all of it without one' } } },
    async call({ path = '.' }, workspace) {
      const names = await workspace.list(text(path))
      return names.length === 0 ? 'It is empty.' : names.join('\n')
    },
  },
  {
    name: 'read_file',
    description: 'Reads a text file of the workspace.',
    inputSchema: {
      type: 'object',
      properties: { path: { type: 'string', description: 'Seen from the workspace' } },
      required: ['path'],
    },
    async call({ path }, workspace) {
      const bytes = await workspace.read(text(path))
      if (bytes.includes(0)) throw new Error(`${path} is no text`)
      const content = new TextDecoder().decode(bytes)
      return content.length > MOST ? `${content.slice(0, MOST)}\n[the rest was left out]` : content
    },
  },
]

function text(path) {
  if (typeof path !== 'string' || path === '') throw new Error('give a path')
  return path
}
