/** The one module that loads the SDK; it is imported at the first step. */
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createModels } from '../exchange/models.js'
import type { Models } from '../exchange/protocol.js'

export function createContentModels(baseURL: string): Models {
  return createModels((fetch) => {
    // The credential of a request is among its headers.
    const provider = createGoogleGenerativeAI({ baseURL, apiKey: 'none', fetch })
    return (id) => provider.chat(id)
  })
}
