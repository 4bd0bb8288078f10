import { SANDBOX_NAMES } from '../../../src/contexts/onboarding/identity/image-kind.js';
import { randomBytes } from 'node:crypto';
import { HDNodeWallet } from 'ethers';
import { OnfidoVerifier } from '../../../src/contexts/onboarding/identity/onfido.adapter.js';
import {
  SandboxCards,
  SandboxIdentityVerifier,
  SandboxSms,
  SandboxWallets,
} from '../../../src/contexts/onboarding/providers/sandbox-providers.adapter.js';
import { StripeCardIssuer } from '../../../src/contexts/onboarding/cards/stripe.adapter.js';
import { TwilioSms } from '../../../src/contexts/onboarding/phone/twilio-sms.adapter.js';
import { XpubWallets } from '../../../src/contexts/onboarding/wallets/xpub-wallets.adapter.js';
import { Verifications } from '../../../src/contexts/onboarding/identity/verifications.store.js';
import { StripeCards } from '../../../src/contexts/onboarding/cards/stripe-api.adapter.js';
import { Sealer } from '../../../src/platform/sealing/sealer.js';
import { Onfido } from '../../support/onboarding/onfido/onfido.js';
import { testDatabase } from '../../support/postgres.js';
import { StripeServer } from '../../support/onboarding/stripe/stripe.js';
import { Twilio } from '../../support/onboarding/twilio/twilio.js';
import { describeCardIssuer } from './cards.conformance.js';
import { describeIdentityVerifier } from './identity.conformance.js';
import { describeSmsSender } from './sms.conformance.js';
import { describeWalletProvisioner } from './wallets.conformance.js';
import { onboardingConfig } from '../../../src/contexts/onboarding/onboarding.config.js';

const SEALER = new Sealer(randomBytes(32));
const nothing = (): Promise<void> => Promise.resolve();

describeSmsSender('the sandbox', () => {
  const sender = new SandboxSms();
  const lastCode = (phone: string): string | null => sender.lastCode(phone);
  return Promise.resolve({ sender, lastCode, outside: null, refuse: null, cleanUp: nothing });
});

describeSmsSender('Twilio', async () => {
  const twilio = await Twilio.start();
  const sender = new TwilioSms(twilio.account);
  return {
    sender,
    lastCode: (phone) => twilio.lastCode(phone),
    outside: twilio,
    refuse: (phone) => void twilio.numbers.set(phone, 21614),
    cleanUp: async () => {
      await sender.onApplicationShutdown();
      await twilio.shutDown();
    },
  };
});

describeIdentityVerifier('the sandbox', async () => {
  const db = await testDatabase();
  const verifications = new Verifications(db.database, SEALER);
  return {
    open: () => new SandboxIdentityVerifier(verifications, onboardingConfig({})),
    reviewed: { last_name: SANDBOX_NAMES.review },
    decided: async ({ userId }, passed) => {
      await verifications.decideReview(userId, passed ? null : 'The document has expired');
    },
    verifications: async (userId) => {
      const sql = 'select 1 from onboarding.verifications where user_id = $1';
      return (await db.database.query(sql, [userId])).length;
    },
    outside: null,
    cleanUp: () => db.drop(),
  };
});

describeIdentityVerifier('Onfido', async () => {
  const [db, onfido] = await Promise.all([testDatabase(), Onfido.start()]);
  const verifications = new Verifications(db.database, SEALER);
  const checksOf = async (userId: string) => {
    const applicants = (await verifications.ofUser(userId, 'onfido')).map(({ applicant }) => applicant);
    return onfido.records.checks.filter(({ applicant_id }) => applicants.includes(applicant_id));
  };
  return {
    open: () => new OnfidoVerifier(onfido.account, verifications),
    reviewed: {},
    decided: async ({ userId }, passed) => {
      for (const check of await checksOf(userId)) onfido.complete(check, passed ? 'clear' : 'consider');
    },
    verifications: async (userId) => (await checksOf(userId)).length,
    outside: onfido,
    cleanUp: async () => {
      await onfido.shutDown();
      await db.drop();
    },
  };
});

describeCardIssuer('the sandbox', () =>
  Promise.resolve({
    open: () => new SandboxCards(),
    refusedAtFirst: (request) => ({
      ...request,
      details: { ...request.details, last_name: SANDBOX_NAMES.cardFails },
    }),
    outside: null,
    cleanUp: nothing,
  }),
);

describeCardIssuer('Stripe Issuing', async () => {
  const [db, stripe] = await Promise.all([testDatabase(), StripeServer.start()]);
  const opened: StripeCardIssuer[] = [];
  return {
    open: () => {
      const issuer = new StripeCardIssuer(stripe.account, new StripeCards(db.database));
      opened.push(issuer);
      return issuer;
    },
    refusedAtFirst: (request) => {
      stripe.refuseCard(402, 'card_error', 'card_declined');
      return request;
    },
    outside: stripe,
    cleanUp: async () => {
      await Promise.all([...opened.map((each) => each.onApplicationShutdown()), stripe.shutDown()]);
      await db.drop();
    },
  };
});

describeWalletProvisioner('the sandbox', () => {
  const wallets = new SandboxWallets({ root: Buffer.alloc(32, 7) });
  const privately = async (userId: string): Promise<string> => (await wallets.createWallet(userId)).address;
  return Promise.resolve({ open: () => Promise.resolve(wallets), privately, cleanUp: nothing });
});

describeWalletProvisioner('an extended public key', async () => {
  const db = await testDatabase();
  const account = HDNodeWallet.createRandom('', "m/44'/60'/0'");
  return {
    open: () => XpubWallets.open(account.neuter().extendedKey, 0, db.database),
    privately: (_, derivation) =>
      Promise.resolve(account.derivePath((derivation as { path: string }).path).address),
    cleanUp: () => db.drop(),
  };
});
