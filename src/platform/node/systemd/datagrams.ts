/** Datagrams to the socket of a service manager: Node has no such sockets, so those of the system are used. */

export interface Notices {
  /** Whether it was taken. Never waits. */
  send(text: string): boolean
}

const [AF_UNIX, SOCK_DGRAM, SOCK_CLOEXEC, MSG_DONTWAIT, MSG_NOSIGNAL] = [1, 2, 0o2000000, 0x40, 0x4000]
/** `sun_path` of an address, bytes. */
const MOST = 108

type Socket = (domain: number, type: number, protocol: number) => number
type SendTo = (socket: number, text: Buffer, length: number, flags: number, address: Buffer, size: number) => number

/** `address` is a path, or a name of Linux behind `@`. Throws where there are no such sockets. */
export async function openNotices(address: string): Promise<Notices> {
  if (process.platform !== 'linux') throw new Error('only known on Linux')
  const to = addressOf(address)
  const { default: koffi } = await import('koffi')
  const library = koffi.load(null)
  const open = library.func('int socket(int, int, int)') as Socket
  const sendTo = library.func('long sendto(int, const void *, size_t, int, const void *, uint32_t)') as SendTo
  const socket = open(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)
  if (socket === -1) throw new Error('the system gives no socket')
  return {
    send(text) {
      const bytes = Buffer.from(text)
      return sendTo(socket, bytes, bytes.length, MSG_DONTWAIT | MSG_NOSIGNAL, to, to.length) === bytes.length
    },
  }
}

function addressOf(address: string): Buffer {
  const path = Buffer.from(address.startsWith('@') ? `\0${address.slice(1)}` : address)
  if (!/^[/@]/.test(address) || path.length >= MOST) throw new Error('its address is none')
  const family = Buffer.alloc(2)
  family.writeUInt16LE(AF_UNIX)
  // The name of one without a path is as long as it is; a path ends with a zero.
  return Buffer.concat([family, path, Buffer.alloc(address.startsWith('@') ? 0 : 1)])
}
