/**
 * The model `svc/offline` (choice 12): plays scripts, and follows plain requests by calling the tools offered.
 *
 * I1 What it does next follows from the messages of the request alone, so it survives restarts.
 * I2 Only errors with `times` are counted, per request, in a bounded map; losing a count repeats an error.
 */
import * as z from 'zod'
import type { NativeHost, ProviderSettings } from '../../../ports/plugin.js'
import type { GenerateRequest, ProviderAdapter } from '../../../ports/provider-adapter.js'
import { LIMITS } from '../../../protocol/limits.js'
import { createLru } from '../../../kernel/lru.js'
import { answer } from './answer.js'
import { type Conversation, readConversation } from './conversation.js'
import { playTurn } from './play.js'
import { findScript, readScript } from './script.js'
import { createVoice, type Voice } from './voice.js'
import { messageOf } from '../../../protocol/message-of.js'

const COUNTED_ERRORS = 256
/** ms before the first answer to a prompt: no model answers at once, and who looks for the answer only once the prompt was taken has to see it begin. */
const LATENCY = 300

/**
 * Configuration: `options.script` is the absolute path of a script to play instead of reading prompts; `options.latency` is how many ms it
 * thinks about a prompt that it reads. What it plays begins as the script has it.
 */
export function createOfflineAdapter(settings: ProviderSettings, effects: Pick<NativeHost['effects'], 'clock' | 'files'>): ProviderAdapter {
  const { latency = LATENCY } = z
    .looseObject({ latency: z.number().min(0).max(60_000).optional().catch(undefined) })
    .parse(settings.options)
  const failures = createLru<string, number>(COUNTED_ERRORS)
  const countFailure = (key: string): number => {
    const earlier = failures.get(key) ?? 0
    failures.set(key, earlier + 1)
    return earlier
  }

  const scriptOf = async (conversation: Conversation): Promise<{ text: string } | { problem: string } | undefined> => {
    const inPrompt = conversation.told === undefined ? findScript(conversation.prompt) : undefined
    if (inPrompt !== undefined) return { text: inPrompt }
    const path = settings.options.script
    if (path === undefined) return undefined
    if (typeof path !== 'string') return { problem: 'provider.svc.options.script is not a path' }
    try {
      return { text: new TextDecoder().decode(await effects.files.read(path, LIMITS.config.fileBytes)) }
    } catch (error) {
      return { problem: `the file ${path} cannot be read (${messageOf(error)})` }
    }
  }

  return {
    async generate(request, push, signal) {
      const voice = createVoice(request, push, { clock: effects.clock, signal })
      const conversation = readConversation(request)
      const source = await scriptOf(conversation)
      if (source === undefined) {
        if (conversation.steps === 0 && !conversation.isTitled) await voice.pause(latency)
        return reply(conversation, request, voice)
      }
      const script = 'problem' in source ? source : readScript(source.text)
      if ('problem' in script) return finishWith(voice, `This script cannot be played: ${script.problem}.`)
      const turn = script.turns[conversation.steps]
      if (turn === undefined) return finishWith(voice, 'The script is over.')
      await playTurn(turn, voice, (index) => countFailure(`${request.sessionId}/${request.messages.length}/${index}`))
    },
  }
}

async function reply(conversation: Conversation, request: GenerateRequest, voice: Voice): Promise<void> {
  const next = answer(conversation, request.tools)
  await voice.say(next.say)
  if (!('call' in next)) return voice.finish('stop')
  await voice.call(next.call.tool, next.call.input)
  voice.finish('tool-calls')
}

async function finishWith(voice: Voice, text: string): Promise<void> {
  await voice.say(text)
  voice.finish('stop')
}
