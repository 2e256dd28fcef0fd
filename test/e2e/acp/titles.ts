/** Models of conversations that get a title: that is asked for beside them. */
import { finish, type ModelServer, reply, type Script, text } from '../../fixtures/model-server.js'

/** Titles are asked for beside the conversation. */
export function besideTitles(script: Script): Script {
  let next = 0
  return (request) => {
    if (isOfTitle(request)) return reply(text('A title'), finish('stop'))
    const answer = typeof script === 'function' ? script(request) : script[next++]
    // Not thrown: nobody would answer then.
    return answer ?? { status: 400, body: { error: { message: 'the script has no further reply' } } }
  }
}

export const isOfTitle = ({ body }: Pick<ModelServer['requests'][number], 'body'>) => JSON.stringify(body).includes('Write a title for')
