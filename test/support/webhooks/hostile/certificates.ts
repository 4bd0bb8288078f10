import { generateKeyPairSync } from 'node:crypto';
import forge from 'node-forge';

export interface KeyAndCertificate {
  readonly key: string;
  readonly cert: string;
}

/** Certificates for receivers on 127.0.0.1, good and bad, created for each run; no key is ever written to disk. */
export interface Certificates {
  /** What the sender trusts, in PEM. */
  readonly authority: string;
  readonly good: KeyAndCertificate;
  readonly expired: KeyAndCertificate;
  readonly early: KeyAndCertificate;
  readonly otherName: KeyAndCertificate;
  readonly selfSigned: KeyAndCertificate;
  readonly stranger: KeyAndCertificate;
}

const DAY_MS = 86_400_000;

interface Subject {
  readonly name: string;
  /** Days from now. */
  readonly valid?: readonly [from: number, to: number];
  readonly authority?: boolean;
}

interface Issued extends KeyAndCertificate {
  readonly certificate: forge.pki.Certificate;
  readonly privateKey: forge.pki.rsa.PrivateKey;
}

let serial = 0;

type Pair = ReturnType<typeof newPair>;

function newPair(): { readonly publicKey: string; readonly privateKey: string } {
  return generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
}

function issue(pair: Pair, { name, valid = [-1, 30], authority = false }: Subject, issuer?: Issued): Issued {
  const privateKey = forge.pki.privateKeyFromPem(pair.privateKey) as forge.pki.rsa.PrivateKey;
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(pair.publicKey);
  certificate.serialNumber = (++serial).toString(16).padStart(2, '0');
  certificate.validity.notBefore = new Date(Date.now() + valid[0] * DAY_MS);
  certificate.validity.notAfter = new Date(Date.now() + valid[1] * DAY_MS);
  certificate.setSubject([{ name: 'commonName', value: name }]);
  certificate.setIssuer(issuer?.certificate.subject.attributes ?? certificate.subject.attributes);
  const address = /^[0-9.]+$/.test(name) ? { type: 7, ip: name } : { type: 2, value: name };
  certificate.setExtensions([
    { name: 'basicConstraints', cA: authority, critical: true },
    ...(authority ? [] : [{ name: 'subjectAltName', altNames: [address] }]),
  ]);
  certificate.sign(issuer?.privateKey ?? privateKey, forge.md.sha256.create());
  return { key: pair.privateKey, cert: forge.pki.certificateToPem(certificate), certificate, privateKey };
}

/** The receivers share one key: making one takes long. */
export function makeCertificates(): Certificates {
  const authority = issue(newPair(), { name: 'Test authority', authority: true });
  const stranger = issue(newPair(), { name: 'Another authority', authority: true });
  const pair = newPair();
  const receiver = (subject: Subject, issuer?: Issued): KeyAndCertificate => {
    const { key, cert } = issue(pair, subject, issuer);
    return { key, cert };
  };
  return {
    authority: authority.cert,
    good: receiver({ name: '127.0.0.1' }, authority),
    expired: receiver({ name: '127.0.0.1', valid: [-30, -1] }, authority),
    early: receiver({ name: '127.0.0.1', valid: [1, 30] }, authority),
    otherName: receiver({ name: 'hooks.example.com' }, authority),
    selfSigned: receiver({ name: '127.0.0.1' }),
    stranger: receiver({ name: '127.0.0.1' }, stranger),
  };
}
