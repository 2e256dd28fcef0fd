/** What `svc serve` takes. */
import type { Page } from '../../line/page.js'

export const SERVE = {
  name: 'serve',
  summary: 'start the server',
  words: [],
  options: {
    port: {
      type: 'number',
      value: 'number',
      least: 0,
      most: 65_535,
      help: 'port to listen on; 0 takes a free one',
      otherwise: '4096',
    },
    hostname: { type: 'text', value: 'address', help: 'address to listen on', otherwise: '127.0.0.1' },
    cors: { type: 'text', value: 'origin', multiple: true, help: 'let pages of this origin call; may be repeated' },
    'allow-host': { type: 'text', value: 'name', multiple: true, help: 'answer to this Host name too; may be repeated' },
    'control-plane': { type: 'flag', help: 'run no agent, program or workflow: many share this server' },
    'worker-bootstrap': { type: 'text', value: 'file', completes: 'file', help: 'work for the one workspace that this file names' },
    'worker-verification-key-file': {
      type: 'text',
      value: 'file',
      completes: 'file',
      help: 'the 32 bytes that the tokens of its callers are verified with',
    },
    'worker-broker': { type: 'text', value: 'url', help: 'where a worker gets credentials for models, for a while each' },
    'worker-broker-token-file': {
      type: 'text',
      value: 'file',
      completes: 'file',
      help: 'the bearer that it shows there',
    },
    'inspect-payloads': { type: 'flag', help: 'let the inspector show payloads, prompts included' },
  },
  examples: [
    ['svc serve', 'listens on http://127.0.0.1:4096'],
    ['svc serve --port 0', 'takes a free port and prints it'],
    ['SVC_AGENT_TOKEN=… svc serve --hostname 0.0.0.0', 'other machines can reach it, with the token'],
  ],
  notes: [
    'An address that other machines can reach needs a credential in SVC_AGENT_TOKEN.',
    'A worker is started with both of its files, by the program that hosts it; see docs/workers.md.',
  ],
} as const satisfies Page
