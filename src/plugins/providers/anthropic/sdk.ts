/** The one module that loads the SDK; it is imported at the first step. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createModels } from '../exchange/models.js'
import type { Models } from '../exchange/protocol.js'

export function createMessagesModels(baseURL: string): Models {
  return createModels((fetch) => {
    // The credential of a request is among its headers.
    const provider = createAnthropic({ baseURL, apiKey: 'none', fetch })
    return (id) => provider.messages(id)
  })
}
