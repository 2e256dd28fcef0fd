/** How contributions reach their process: at once where it runs, and where it rests, once it has been started for them. */
import type { Link } from '../link/link.js'
import type { OpenedStream } from '../link/open-stream.js'

export interface ContributionLink extends Pick<Link, 'call' | 'notify' | 'complain'> {
  openStream(...opening: Parameters<Link['openStream']>): OpenedStream | Promise<OpenedStream>
  readonly counters: Pick<Link['counters'], 'waitingBytes'>
}

export interface LateLinkOptions {
  /** Of the process, once it has answered `initialize`. */
  current(): Link | undefined
  /** Starts it. Rejects when it cannot be started or has ended. */
  awake(): Promise<Link>
}

/** Nothing can be told to what does not run yet: it counts as full, and is started for it. */
const UNHEARD = { waitingBytes: Infinity }

export function createLateLink({ current, awake }: LateLinkOptions): ContributionLink {
  const late = async <T>(use: (link: Link) => T | Promise<T>): Promise<T> => use(await awake())
  return {
    call: (...request) => current()?.call(...request) ?? late((link) => link.call(...request)),
    openStream: (...opening) => current()?.openStream(...opening) ?? late((link) => link.openStream(...opening)),
    notify: (...notification) => current()?.notify(...notification) === true,
    complain: (message) => current()?.complain(message),
    get counters() {
      const link = current()
      if (link === undefined) awake().catch(() => undefined) // its failure is told as that of the instance
      return link?.counters ?? UNHEARD
    },
  }
}
