import { BlockList, isIP, isIPv4 } from 'node:net'

/** Of IPv4, everything may be reached but these. */
const NOT_PUBLIC_V4 = [
  '0.0.0.0/8', // this host
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carriers' networks; some clouds' metadata
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // a cloud's host agent
  '169.254.0.0/16', // link-local; most clouds' metadata
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments; a cloud's metadata
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
 * Of IPv6, only what is given out for public use. So loopback, link-local, unique-local and
 * multicast addresses are out, and every form outside of it that carries an IPv4 address:
 * mapped, compatible, translated (NAT64).
 */
const GIVEN_OUT_V6 = '2000::/3'
const NOT_PUBLIC_V6 = [
  '2001::/23', // protocol assignments: Teredo, benchmarks, …
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which carries an IPv4 address
  '3fff::/20', // documentation
]

const refusedV4 = listOf(NOT_PUBLIC_V4, 'ipv4')
const givenOutV6 = listOf([GIVEN_OUT_V6], 'ipv6')
const refusedV6 = listOf(NOT_PUBLIC_V6, 'ipv6')
const loopbackV4 = listOf(['127.0.0.0/8'], 'ipv4')

/** Whether this is an address on the public internet; false for what is no address. */
export function isPublicAddress(address: string): boolean {
  // What has a zone is meant for one link.
  if (isIP(address) === 0 || address.includes('%')) return false
  if (isIPv4(address)) return !refusedV4.check(address, 'ipv4')
  return givenOutV6.check(address, 'ipv6') && !refusedV6.check(address, 'ipv6')
}

/** Whether this is the machine itself. */
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
