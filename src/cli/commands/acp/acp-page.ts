/** What `svc acp` takes. */
import { DIRECTORY, type Page, SERVER } from '../../line/page.js'

export const ACP = {
  name: 'acp',
  summary: 'be the agent of an editor that speaks the Agent Client Protocol',
  words: [],
  options: {
    server: { ...SERVER, help: 'use this server; its token comes from SVC_AGENT_TOKEN' },
    port: { type: 'number', value: 'number', least: 1, most: 65_535, help: 'use the server at this port, if one answers there' },
    hostname: { type: 'text', value: 'name', help: 'host of that server', otherwise: '127.0.0.1' },
    cwd: { ...DIRECTORY, help: 'directory of conversations for which the editor names none' },
  },
  examples: [
    ['svc acp', 'as an editor starts it: the protocol goes over standard input and output'],
    ['svc acp --server http://127.0.0.1:4096', 'conversations are those of a server that runs already'],
  ],
  notes: [
    'Without --server it uses the server that runs with your state directory, or one of its own, which ends with it.',
    'Settings for editors are in docs/editors.md. What is no message of the protocol goes to standard error.',
  ],
} as const satisfies Page

export interface AcpOptions {
  readonly server: string | undefined
  /** A server that is used if it answers. */
  readonly usual: string | undefined
  readonly directory: string | undefined
}
