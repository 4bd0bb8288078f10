import {
  issue,
  newPair,
  type Issued,
  type KeyAndCertificate,
  type Subject,
} from '../../../support/http/certificate-authority.js';

/** Valid and invalid certificates for receivers on 127.0.0.1, new in each run. No key is written to disk. */
export interface Certificates {
  /** The sender's trusted authority, in PEM. */
  readonly authority: string;
  readonly good: KeyAndCertificate;
  readonly expired: KeyAndCertificate;
  readonly early: KeyAndCertificate;
  readonly otherName: KeyAndCertificate;
  readonly selfSigned: KeyAndCertificate;
  readonly stranger: KeyAndCertificate;
}

/** The receivers share one key, because its creation is slow. */
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
