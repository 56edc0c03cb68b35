import { expect, it } from 'vitest'
import { isLoopbackAddress, isPublicAddress } from './public-address.ts'

it.each([
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '128.0.0.1',
  '168.63.129.15',
  '169.253.255.255',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.167.255.255',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2606:4700:4700::1111',
  '2a00:1450:4001::200e',
])('The address %s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})

it.each([
  ['unspecified', ['0.0.0.0', '0.1.2.3', '::']],
  ['loopback', ['127.0.0.1', '127.255.255.254', '::1']],
  ['private', ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fdff::1']],
  ['carrier network', ['100.64.0.1', '100.127.255.255']],
  ['link-local', ['169.254.0.1', 'fe80::1', 'fe80::1%eth0', 'febf::1', 'fec0::1']],
  [
    'cloud metadata',
    [
      '169.254.169.254',
      '169.254.170.2',
      '100.100.100.200',
      '168.63.129.16',
      '192.0.0.192',
      'fd00:ec2::254',
    ],
  ],
  ['multicast', ['224.0.0.1', '239.255.255.255', 'ff02::1']],
  ['reserved or broadcast', ['240.0.0.1', '255.255.255.255', '192.0.0.1', '4000::1', '100::1']],
  ['documentation', ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1']],
  ['benchmark', ['198.18.0.1', '198.19.255.255', '2001:2::1']],
  ['IPv4-mapped', ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:8.8.8.8']],
  ['IPv4-compatible', ['::127.0.0.1', '::a00:1']],
  ['NAT64', ['64:ff9b::127.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b:1::a00:1']],
  ['6to4 or Teredo', ['2002:7f00:1::', '2002:a9fe:a9fe::1', '2001::1', '192.88.99.1']],
  ['malformed', ['', 'localhost', '127.1', '2130706433', '0x7f.1', '017700000001', '1.1.1.1 ']],
])('A %s address is not public', (_what, addresses) => {
  for (const address of addresses)
    expect([address, isPublicAddress(address)]).toEqual([address, false])
})

it('The loopback addresses are 127.0.0.0/8 and ::1', () => {
  for (const address of ['127.0.0.1', '127.8.9.10', '::1'])
    expect(isLoopbackAddress(address)).toBe(true)
  for (const address of ['128.0.0.1', '::2', '0.0.0.0', '::ffff:127.0.0.1', 'localhost']) {
    expect(isLoopbackAddress(address)).toBe(false)
  }
})
