import { createHash } from 'node:crypto';

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const RIPPLE_BASE58 = 'rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz';
const BECH32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

type Check = (address: string) => boolean | Promise<boolean>;

const bitcoinLike =
  (versions: readonly number[], prefix: string): Check =>
  (address) =>
    isBase58Check(address, BASE58, versions) || isSegwit(address, prefix);

const CHECKS: Readonly<Record<string, Check>> = {
  ethereum: isEvm,
  base: isEvm,
  polygon: isEvm,
  tron: (address) => isBase58Check(address, BASE58, [0x41]),
  bitcoin: bitcoinLike([0x00, 0x05], 'bc'),
  litecoin: bitcoinLike([0x30, 0x32, 0x05], 'ltc'),
  ripple: (address) => isBase58Check(address, RIPPLE_BASE58, [0x00]),
  stellar: isStellar,
};

/** Whether money can be sent to the address on the chain: its form, and its checksum where it has one. */
export async function isDepositAddress(chain: string, address: string): Promise<boolean> {
  return address.length <= 100 && (await CHECKS[chain]?.(address)) === true;
}

/** In mixed case the letters are a checksum (EIP-55). */
async function isEvm(address: string): Promise<boolean> {
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) return false;
  const { isAddress } = await import('ethers');
  return isAddress(address);
}

/** Base58 of a version, 20 bytes, and the first 4 of their double SHA-256. */
function isBase58Check(address: string, alphabet: string, versions: readonly number[]): boolean {
  let value = 0n;
  for (const character of address) {
    const digit = alphabet.indexOf(character);
    if (digit === -1) return false;
    value = value * 58n + BigInt(digit);
  }
  const hex = value.toString(16);
  if (hex.length > 50) return false;
  const bytes = Buffer.from(hex.padStart(50, '0'), 'hex');
  const sha256 = (data: Buffer): Buffer => createHash('sha256').update(data).digest();
  const zeros = bytes.findIndex((byte) => byte !== 0);
  const leading = [...address].findIndex((character) => character !== alphabet[0]);
  return (
    zeros === leading &&
    versions.includes(bytes[0]!) &&
    sha256(sha256(bytes.subarray(0, 21)))
      .subarray(0, 4)
      .equals(bytes.subarray(21))
  );
}

/** BIP 173 and 350: a version, 20 or 32 bytes in groups of five bits, and six characters of checksum. */
function isSegwit(address: string, prefix: string): boolean {
  if (address !== address.toLowerCase() && address !== address.toUpperCase()) return false;
  const human = address.slice(0, prefix.length).toLowerCase();
  const data = address.slice(prefix.length + 1).toLowerCase();
  if (human !== prefix || address[prefix.length] !== '1' || ![39, 59].includes(data.length)) return false;
  const digits = [...data].map((character) => BECH32.indexOf(character));
  if (digits.includes(-1) || digits[0]! > 16) return false;
  if (digits[0] !== 0 && data.length !== 59) return false;
  const codes = [...human].map((character) => character.charCodeAt(0));
  const all = [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31), ...digits];
  return polymod(all) === (digits[0] === 0 ? 1 : 0x2bc830a3);
}

function polymod(values: readonly number[]): number {
  const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
  return values.reduce((sum, value) => {
    const shifted = ((sum & 0x1ffffff) << 5) ^ value;
    return generators.reduce(
      (next, generator, bit) => (((sum >> 25) >> bit) & 1 ? next ^ generator : next),
      shifted,
    );
  }, 1);
}

/** SEP 23: Base32 of a version, 32 bytes and the CRC-16 of both. */
function isStellar(address: string): boolean {
  if (!/^G[A-Z2-7]{55}$/.test(address)) return false;
  const bits = [...address]
    .map((character) => BASE32.indexOf(character).toString(2).padStart(5, '0'))
    .join('');
  const bytes = Buffer.from(bits.match(/.{8}/g)!.map((byte) => parseInt(byte, 2)));
  let crc = 0;
  for (const byte of bytes.subarray(0, 33)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
  }
  return bytes.readUInt16LE(33) === crc;
}
