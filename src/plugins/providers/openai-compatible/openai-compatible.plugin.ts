/** Native plugin `dev.svc.openai-compatible`: models behind the chat completions protocol. */
import type { NativePlugin } from '../../../ports/plugin.js'
import { createModelPlugin, type ModelPluginOptions } from '../exchange/plugin.js'
import type { Protocol } from '../exchange/protocol.js'
import { type ChatCall, toCall } from './call.js'
import { createChatModels } from './models.js'
import { createAnswer } from './step.js'
import { VENDORS, vendorEndpoints, vendorOf } from './vendors.js'

export const chatCompletions: Protocol<ChatCall> = {
  endpoint: (npm) => vendorOf(npm).endpoint,
  load: async (settings, baseURL) => createChatModels(settings, baseURL),
  call: toCall,
  answer: createAnswer,
}

export function createOpenAICompatiblePlugin(options: ModelPluginOptions = {}): NativePlugin {
  const plugin = {
    word: 'openai-compatible',
    name: 'OpenAI-compatible providers',
    npm: Object.keys(VENDORS),
    endpoints: vendorEndpoints(),
    protocol: chatCompletions,
  }
  return createModelPlugin(plugin, options)
}
