/** What `svc models` and `svc providers` take. */
import { DIRECTORY, JSON_OUT, type Page, SERVER } from '../../line/page.js'

const PLACE = {
  dir: { ...DIRECTORY, help: 'by the configuration of this directory' },
  server: { ...SERVER, otherwise: 'the local one, or one for the moment' },
  json: JSON_OUT,
} as const

export const MODELS = {
  name: 'models',
  summary: 'list the models that can be used',
  words: [{ name: 'provider', completes: 'provider' }],
  options: {
    verbose: { type: 'flag', help: 'with window, prices for a million tokens and name' },
    ...PLACE,
  },
  examples: [
    ['svc models', 'every model that can be used, one on each line'],
    ['svc models openai --verbose', 'those of one provider, also while it has no key'],
  ],
} as const satisfies Page

export const PROVIDERS = {
  name: 'providers',
  summary: 'list providers of models and what they need',
  words: [],
  options: {
    all: { type: 'flag', help: 'also those of the catalog that nobody uses' },
    ...PLACE,
  },
  examples: [['svc providers --all', 'every provider there is, and the variable that holds its key']],
} as const satisfies Page
