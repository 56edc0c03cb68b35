import { BlockList, isIP, isIPv4 } from 'node:net'

/** The IPv4 networks that are not public. All other IPv4 addresses are public. */
const NOT_PUBLIC_V4 = [
  '0.0.0.0/8', // this host
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier networks; metadata of some clouds
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // host agent of a cloud
  '169.254.0.0/16', // link-local; metadata of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments; metadata of a cloud
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
]

/**
 * The IPv6 network that is allocated for public use. It excludes loopback, link-local, unique-local
 * and multicast addresses, and the addresses that contain an IPv4 address: mapped, compatible and
 * translated (NAT64).
 */
const ALLOCATED_V6 = '2000::/3'
/** The networks in `ALLOCATED_V6` that are not public. */
const NOT_PUBLIC_V6 = [
  '2001::/23', // protocol assignments: Teredo, benchmarks, …
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which contains an IPv4 address
  '3fff::/20', // documentation
]

const refusedV4 = listOf(NOT_PUBLIC_V4, 'ipv4')
const allocatedV6 = listOf([ALLOCATED_V6], 'ipv6')
const refusedV6 = listOf(NOT_PUBLIC_V6, 'ipv6')
const loopbackV4 = listOf(['127.0.0.0/8'], 'ipv4')

/** Returns `true` if a text is an IP address on the public internet; `false` for any other text. */
export function isPublicAddress(address: string): boolean {
  // An address with a zone is link-local.
  if (isIP(address) === 0 || address.includes('%')) return false
  if (isIPv4(address)) return !refusedV4.check(address, 'ipv4')
  return allocatedV6.check(address, 'ipv6') && !refusedV6.check(address, 'ipv6')
}

/** Returns `true` if an address is a loopback address. */
export function isLoopbackAddress(address: string): boolean {
  return isIPv4(address) ? loopbackV4.check(address, 'ipv4') : address === '::1'
}

function listOf(networks: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    list.addSubnet(address, Number(bits), family)
  }
  return list
}
