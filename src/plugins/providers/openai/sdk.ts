/** The one module that loads the SDK; it is imported at the first step. */
import { createOpenAI } from '@ai-sdk/openai'
import { createModels } from '../exchange/models.js'
import type { Models } from '../exchange/protocol.js'

export function createResponsesModels(baseURL: string): Models {
  return createModels((fetch) => {
    // The credential of a request is among its headers.
    const provider = createOpenAI({ baseURL, apiKey: 'none', fetch })
    return (id) => provider.responses(id)
  })
}
