/**
 * Writes the catalog of models that svc carries: `src/actors/provider/catalog/snapshot.json`. It serves until a live source
 * answers, and where none can be reached.
 *
 *   node scripts/models-snapshot.mjs               from the table below
 *   node scripts/models-snapshot.mjs api.json      the same vendors, their models from a catalog that was saved to a file
 *   node scripts/models-snapshot.mjs --check       complains when the file is not what the table makes
 *
 * Prices are USD per million tokens: input, output, cache read, cache write.
 */
import { readFileSync } from 'node:fs'
import { settle } from './generated.mjs'

const AS_OF = '2025-11-30'

const text = { input: ['text'], output: ['text'] }
const image = { input: ['text', 'image'], output: ['text'] }
const pdf = { input: ['text', 'image', 'pdf'], output: ['text'] }
const media = { input: ['text', 'image', 'pdf', 'audio', 'video'], output: ['text'] }

/** id, name, day of release, context, output, prices, and what is special. */
const VENDORS = {
  anthropic: {
    name: 'Anthropic',
    npm: '@ai-sdk/anthropic',
    env: ['ANTHROPIC_API_KEY'],
    models: [
      ['claude-sonnet-4-5', 'Claude Sonnet 4.5', '2025-09-29', 200_000, 64_000, [3, 15, 0.3, 3.75], { reasoning: true, modalities: pdf }],
      ['claude-opus-4-5', 'Claude Opus 4.5', '2025-11-24', 200_000, 64_000, [5, 25, 0.5, 6.25], { reasoning: true, modalities: pdf }],
      ['claude-haiku-4-5', 'Claude Haiku 4.5', '2025-10-15', 200_000, 64_000, [1, 5, 0.1, 1.25], { reasoning: true, modalities: pdf }],
      ['claude-opus-4-1', 'Claude Opus 4.1', '2025-08-05', 200_000, 32_000, [15, 75, 1.5, 18.75], { reasoning: true, modalities: pdf }],
      ['claude-sonnet-4-0', 'Claude Sonnet 4', '2025-05-22', 200_000, 64_000, [3, 15, 0.3, 3.75], { reasoning: true, modalities: pdf }],
    ],
  },
  openai: {
    name: 'OpenAI',
    npm: '@ai-sdk/openai',
    env: ['OPENAI_API_KEY'],
    models: [
      ['gpt-5.1', 'GPT-5.1', '2025-11-13', 400_000, 128_000, [1.25, 10, 0.125], { reasoning: true, temperature: false, modalities: image }],
      ['gpt-5', 'GPT-5', '2025-08-07', 400_000, 128_000, [1.25, 10, 0.125], { reasoning: true, temperature: false, modalities: image }],
      [
        'gpt-5-mini',
        'GPT-5 Mini',
        '2025-08-07',
        400_000,
        128_000,
        [0.25, 2, 0.025],
        { reasoning: true, temperature: false, modalities: image },
      ],
      [
        'gpt-5-nano',
        'GPT-5 Nano',
        '2025-08-07',
        400_000,
        128_000,
        [0.05, 0.4, 0.005],
        { reasoning: true, temperature: false, modalities: image },
      ],
      ['gpt-4.1', 'GPT-4.1', '2025-04-14', 1_047_576, 32_768, [2, 8, 0.5], { modalities: pdf }],
      ['gpt-4.1-mini', 'GPT-4.1 Mini', '2025-04-14', 1_047_576, 32_768, [0.4, 1.6, 0.1], { modalities: pdf }],
      ['gpt-4o', 'GPT-4o', '2024-05-13', 128_000, 16_384, [2.5, 10, 1.25], { modalities: pdf }],
      ['gpt-4o-mini', 'GPT-4o Mini', '2024-07-18', 128_000, 16_384, [0.15, 0.6, 0.075], { modalities: pdf }],
    ],
  },
  google: {
    name: 'Google',
    npm: '@ai-sdk/google',
    env: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
    models: [
      [
        'gemini-3-pro-preview',
        'Gemini 3 Pro Preview',
        '2025-11-18',
        1_048_576,
        65_536,
        [2, 12, 0.2],
        { reasoning: true, status: 'beta', modalities: media, over: [4, 18, 0.4] },
      ],
      [
        'gemini-2.5-pro',
        'Gemini 2.5 Pro',
        '2025-06-17',
        1_048_576,
        65_536,
        [1.25, 10, 0.125],
        { reasoning: true, modalities: media, over: [2.5, 15, 0.25] },
      ],
      ['gemini-2.5-flash', 'Gemini 2.5 Flash', '2025-06-17', 1_048_576, 65_536, [0.3, 2.5, 0.03], { reasoning: true, modalities: media }],
      [
        'gemini-2.5-flash-lite',
        'Gemini 2.5 Flash Lite',
        '2025-07-22',
        1_048_576,
        65_536,
        [0.1, 0.4, 0.01],
        { reasoning: true, modalities: media },
      ],
    ],
  },
  openrouter: {
    name: 'OpenRouter',
    npm: '@openrouter/ai-sdk-provider',
    api: 'https://openrouter.ai/api/v1',
    env: ['OPENROUTER_API_KEY'],
    models: [
      [
        'anthropic/claude-sonnet-4.5',
        'Claude Sonnet 4.5',
        '2025-09-29',
        200_000,
        64_000,
        [3, 15, 0.3, 3.75],
        { reasoning: true, modalities: pdf },
      ],
      [
        'openai/gpt-5',
        'GPT-5',
        '2025-08-07',
        400_000,
        128_000,
        [1.25, 10, 0.125],
        { reasoning: true, temperature: false, modalities: image },
      ],
      [
        'google/gemini-2.5-flash',
        'Gemini 2.5 Flash',
        '2025-06-17',
        1_048_576,
        65_536,
        [0.3, 2.5, 0.03],
        { reasoning: true, modalities: pdf },
      ],
    ],
  },
  xai: {
    name: 'xAI',
    npm: '@ai-sdk/xai',
    env: ['XAI_API_KEY'],
    models: [
      ['grok-code-fast-1', 'Grok Code Fast 1', '2025-08-28', 256_000, 10_000, [0.2, 1.5, 0.02], { reasoning: true, modalities: text }],
      ['grok-4', 'Grok 4', '2025-07-09', 256_000, 64_000, [3, 15, 0.75], { reasoning: true, modalities: image }],
    ],
  },
  deepseek: {
    name: 'DeepSeek',
    npm: '@ai-sdk/openai-compatible',
    api: 'https://api.deepseek.com',
    env: ['DEEPSEEK_API_KEY'],
    models: [
      ['deepseek-chat', 'DeepSeek Chat', '2024-12-26', 128_000, 8_192, [0.28, 0.42, 0.028], { modalities: text }],
      ['deepseek-reasoner', 'DeepSeek Reasoner', '2025-01-20', 128_000, 64_000, [0.28, 0.42, 0.028], { reasoning: true, modalities: text }],
    ],
  },
  groq: {
    name: 'Groq',
    npm: '@ai-sdk/groq',
    env: ['GROQ_API_KEY'],
    models: [['llama-3.3-70b-versatile', 'Llama 3.3 70B Versatile', '2024-12-06', 131_072, 32_768, [0.59, 0.79], { modalities: text }]],
  },
  mistral: {
    name: 'Mistral',
    npm: '@ai-sdk/mistral',
    env: ['MISTRAL_API_KEY'],
    models: [['mistral-medium-latest', 'Mistral Medium', '2025-05-07', 128_000, 16_384, [0.4, 2], { modalities: image }]],
  },
}

const saved = process.argv.slice(2).find((argument) => !argument.startsWith('--'))
const live = saved === undefined ? undefined : JSON.parse(readFileSync(saved, 'utf8'))
const about = {
  source: live === undefined ? "the vendors' published limits and prices, written down by hand in scripts/models-snapshot.mjs" : saved,
  asOf: live === undefined ? AS_OF : new Date().toISOString().slice(0, 10),
  use: 'serves until a live catalog answers, which takes the place of these models',
}
const vendors = Object.fromEntries(Object.entries(VENDORS).map(([id, vendor]) => [id, entryOf(id, vendor)]))
settle('src/actors/provider/catalog', [['snapshot.json', `${JSON.stringify({ $about: about, ...vendors }, null, 1)}\n`]], { prune: false })

function entryOf(id, { models, ...vendor }) {
  const kept = live?.[id]?.models
  return { id, ...vendor, models: kept === undefined ? Object.fromEntries(models.map(modelOf)) : withoutOld(kept) }
}

function modelOf([id, name, released, context, output, prices, { over, modalities, ...special }]) {
  const cost = { ...ratesOf(prices), ...(over && { context_over_200k: ratesOf(over) }) }
  const attachment = modalities.input.length > 1
  return [id, { id, name, release_date: released, attachment, tool_call: true, ...special, cost, limit: { context, output }, modalities }]
}

function ratesOf([input, output, read, write]) {
  return { input, output, ...(read !== undefined && { cache_read: read }), ...(write !== undefined && { cache_write: write }) }
}

function withoutOld(models) {
  return Object.fromEntries(Object.entries(models).filter(([, { status }]) => status !== 'deprecated'))
}
