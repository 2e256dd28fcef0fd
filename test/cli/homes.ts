/** What files of tests of commands begin with: one server, and homes in it with a workspace for each test. */
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { type Home, makeHome } from './program.js'

interface Homes {
  /** Found by commands of a home that has none of its own. */
  readonly server: Awaited<ReturnType<Home['serve']>>
  /** With an empty workspace. */
  home(): Home
}

/** For the file that calls it. */
export function openHomes(): Homes {
  const shared = makeHome()
  let server: Homes['server'] | undefined
  beforeAll(async () => {
    server = await shared.serve()
  })
  afterAll(() => shared.close())
  return {
    get server() {
      if (server === undefined) throw new Error('the server has not started')
      return server
    },
    home: () => shared.elsewhere(),
  }
}

/** Of a test that has servers of its own, or none. */
export function homeApart(): Home {
  const own = makeHome()
  onTestFinished(() => own.close())
  return own
}
