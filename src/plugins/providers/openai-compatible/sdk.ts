/** The one module that loads the SDK; it is imported at the first step. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { ProviderSettings } from '../../../ports/plugin.js'
import { createModels } from '../exchange/models.js'
import type { Models } from '../exchange/protocol.js'
import { asksForUsage, SDK_NAME, toBody } from './call.js'

export function createChatModels(settings: ProviderSettings, baseURL: string): Models {
  return createModels((fetch) => {
    const provider = createOpenAICompatible({
      name: SDK_NAME,
      baseURL,
      includeUsage: asksForUsage(settings),
      transformRequestBody: toBody(settings.npm),
      fetch,
    })
    return (id) => provider.chatModel(id)
  })
}
