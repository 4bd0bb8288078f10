import { generateKeyPairSync } from 'node:crypto';
import { isIP } from 'node:net';
import forge from 'node-forge';

export interface KeyAndCertificate {
  readonly key: string;
  readonly cert: string;
}

export interface Subject {
  readonly name: string;
  /** Addresses and host names; by default the name alone, none for an authority. */
  readonly hosts?: readonly string[];
  /** Days from now. */
  readonly valid?: readonly [from: number, to: number];
  readonly authority?: boolean;
}

export interface Issued extends KeyAndCertificate {
  readonly certificate: forge.pki.Certificate;
  readonly privateKey: forge.pki.rsa.PrivateKey;
}

export type Pair = ReturnType<typeof newPair>;

const DAY_MS = 86_400_000;

let serial = 0;

export function newPair(): { readonly publicKey: string; readonly privateKey: string } {
  return generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
}

/** Issues a PEM certificate for an authority, a server, a client or both, self-signed without `issuer`. */
export function issue(pair: Pair, subject: Subject, issuer?: Issued): Issued {
  const { name, authority = false, hosts = authority ? [] : [name], valid = [-1, 30] } = subject;
  const privateKey = forge.pki.privateKeyFromPem(pair.privateKey) as forge.pki.rsa.PrivateKey;
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(pair.publicKey);
  certificate.serialNumber = (++serial).toString(16).padStart(2, '0');
  certificate.validity.notBefore = new Date(Date.now() + valid[0] * DAY_MS);
  certificate.validity.notAfter = new Date(Date.now() + valid[1] * DAY_MS);
  certificate.setSubject([{ name: 'commonName', value: name }]);
  certificate.setIssuer(issuer?.certificate.subject.attributes ?? certificate.subject.attributes);
  certificate.setExtensions([
    { name: 'basicConstraints', cA: authority, critical: true },
    ...(hosts.length === 0
      ? []
      : [
          {
            name: 'keyUsage',
            critical: true,
            digitalSignature: true,
            keyEncipherment: true,
            keyCertSign: authority,
          },
          { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
          { name: 'subjectAltName', altNames: hosts.map(alternative) },
        ]),
  ]);
  certificate.sign(issuer?.privateKey ?? privateKey, forge.md.sha256.create());
  return { key: pair.privateKey, cert: forge.pki.certificateToPem(certificate), certificate, privateKey };
}

const alternative = (host: string): object =>
  isIP(host) === 0 ? { type: 2, value: host } : { type: 7, ip: host };
