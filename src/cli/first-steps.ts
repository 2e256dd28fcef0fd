/** How somebody who has no model yet gets to one. */
import type { Client } from '../published/client/client-types.js'

/** Said while only the built-in model can be used. */
export const FIRST_STEPS = [
  'No language model can be used yet. One step is enough:',
  '  a key in the environment        ANTHROPIC_API_KEY=… svc run "hello"        (svc providers --all names every variable)',
  '  a key that is stored once       svc auth set anthropic                     (it is asked for and not shown)',
  '  a sign-in at a provider         svc auth login openai                      (needs a client id, docs/providers.md)',
  '  a model server on this machine  svc run --model ollama/qwen3 "hello"       (also lmstudio, llamacpp, vllm, jan)',
  '  any other endpoint              provider in ~/.config/svc/config.json      (README, "Use a model")',
]

/** Said from the second time on. */
export const NEXT_STEP = 'No language model can be used yet; svc models tells how to get one.'

const KEY = /^(?:ANTHROPIC|OPENAI|GEMINI|OPENROUTER|XAI|DEEPSEEK|GROQ|MISTRAL)_API_KEY$/

/** The name of a variable that holds the key of a vendor. */
export function keyInEnvironment(env: Readonly<Record<string, string | undefined>>): string | undefined {
  return Object.keys(env).find((name) => KEY.test(name) && env[name] !== '')
}

export function unseenKey(name: string): string {
  return `${name} is set here, and the server that runs does not see it: stop that and start it with the variable, or store the key once with svc auth set`
}

/** Whether only the built-in model can be used in a directory. */
export async function needsFirstSteps(client: Client, directory: string): Promise<boolean> {
  const { providers } = await client.providers.configured({ directory })
  return providers.every(({ source }) => source === 'builtin')
}
