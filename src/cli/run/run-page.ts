/** What `svc run` takes. */
import { DIRECTORY, JSON_OUT, type Page, SERVER } from '../table/page.js'

export const RUN = {
  name: 'run',
  summary: 'ask once, print the answer',
  words: [{ name: 'prompt', many: true }],
  options: {
    dir: { ...DIRECTORY, help: 'work in this directory' },
    server: { ...SERVER, help: 'use this server; its token comes from SVC_AGENT_TOKEN' },
    session: { type: 'text', value: 'id', help: 'go on in this session' },
    continue: { type: 'flag', short: 'c', help: 'go on in the latest session of the directory' },
    model: { type: 'text', value: 'id', help: 'provider/model, such as svc/offline' },
    variant: { type: 'text', value: 'name', help: 'variant of the model' },
    agent: { type: 'text', value: 'name', help: 'agent to use' },
    allow: {
      type: 'text',
      value: 'policy',
      choices: ['ask', 'once', 'always', 'reject'],
      help: 'answer to permission requests: ask, once, always or reject',
      otherwise: 'ask',
    },
    unattended: { type: 'flag', help: 'nobody will answer: what the run asks and nobody answers is denied after ten minutes' },
    json: { ...JSON_OUT, help: 'print the events as JSON, one per line' },
  },
  examples: [
    ['svc run "what does this project do?"', 'asks in the current directory'],
    ['git diff | svc run -', 'reads the prompt from standard input'],
    ['svc run -c "and now the tests"', 'goes on in the latest session'],
    ['svc run --allow once "fix the typo in README.md"', 'allows what is asked, this time'],
  ],
  notes: [
    'The prompt comes from standard input when it is absent or "-". The server that uses the state directory answers; without one, svc starts its own for as long as it is needed.',
    'The answer goes to standard output, everything else to standard error. Ctrl-C takes the prompt back, or aborts its run; a second one leaves at once.',
    'Ends with 0 when it is done, 1 when it failed, 2 when the command line was not understood, 3 when something was refused because nobody was there to be asked, and 130 when it was interrupted.',
  ],
} as const satisfies Page
