import { setTimeout as wait } from 'node:timers/promises';
import { crc32, deflateSync } from 'node:zlib';
import { Inject } from '@nestjs/common';
import { Command, CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { newId } from '../../../kernel/ids.js';
import { UsersView, type ExistingUser } from '../../users/contract.js';
import type { Details, Onboarding } from '../domain/onboarding.js';
import { REQUIRED_IMAGES } from '../domain/image-kind.js';
import type { IdentityImage } from '../domain/image-kind.js';
import {
  findApplicant,
  ConfirmDetails,
  RetryCard,
  StartOnboarding,
  StoreImage,
  SubmitKyc,
} from './person-commands.js';
import { SMS_INBOX, type SmsInbox } from './ports.js';
import { PresentTerms } from './present-terms.js';
import { SendPhoneCode, VerifyPhone } from './phone-verification.js';

const ACTIVATION_TIMEOUT_MS = 10_000;
const POLL_MS = 20;
/** The inbox has the last code only, which may belong to a concurrent request. */
const CODE_ATTEMPTS = 5;
const DETAILS: Details = { firstName: 'Sandy', lastName: 'Box', dateOfBirth: '1990-01-01' };

/**
 * Completes an onboarding with a fictitious person and images, and waits for the activation. Throws `not_found`,
 * `invalid_transition` for a user who is deactivating, or `unavailable` after a timeout.
 */
export class CompleteSandboxOnboarding extends Command<ExistingUser> {
  constructor(
    readonly merchantId: string,
    readonly userId: string,
    readonly cause: EventMetadata = {},
  ) {
    super();
  }
}

@CommandHandler(CompleteSandboxOnboarding)
export class CompleteSandboxOnboardingHandler implements ICommandHandler<CompleteSandboxOnboarding> {
  private readonly running = new Map<string, Promise<ExistingUser>>();

  constructor(
    private readonly commandBus: CommandBus,
    private readonly users: UsersView,
    @Inject(SMS_INBOX) private readonly inbox: SmsInbox,
    private readonly terms: PresentTerms,
  ) {}

  /** Concurrent calls for one user share a run. */
  execute({ merchantId, userId, cause }: CompleteSandboxOnboarding): Promise<ExistingUser> {
    const key = `${merchantId} ${userId}`;
    const current = this.running.get(key);
    if (current !== undefined) return current;
    const started = this.complete(merchantId, userId, cause).finally(() => this.running.delete(key));
    this.running.set(key, started);
    return started;
  }

  private async complete(merchantId: string, userId: string, cause: EventMetadata): Promise<ExistingUser> {
    const user = await findApplicant(this.users, merchantId, userId);
    if (user.accountState === 'active') return user;
    let state = await this.commandBus.execute(new StartOnboarding(merchantId, userId, cause));
    if (state.stage === 'started') state = await this.verifyPhone(user, cause);
    if (state.stage === 'phone_verified' || state.stage === 'kyc_failed') {
      const confirmed = new ConfirmDetails(merchantId, userId, DETAILS, this.terms.consent(), cause);
      state = await this.commandBus.execute(confirmed);
    }
    if (state.stage === 'card_failed') await this.commandBus.execute(new RetryCard(userId, cause));
    if (state.stage === 'details_confirmed') await this.submit(merchantId, userId, cause);
    return this.activation(merchantId, userId);
  }

  private async verifyPhone(
    { merchantId, userId, phoneNumber }: ExistingUser,
    cause: EventMetadata,
  ): Promise<Onboarding> {
    const request = { browser: newId(), address: null };
    for (let attempt = 1; ; attempt += 1) {
      await this.commandBus.execute(new SendPhoneCode(merchantId, userId, request));
      const code = this.inbox.lastCode(phoneNumber) ?? '';
      try {
        return await this.commandBus.execute(
          new VerifyPhone(merchantId, userId, phoneNumber, code, request.browser, cause),
        );
      } catch (error) {
        if (!(error instanceof DomainError) || error.code !== 'validation_failed') throw error;
        if (attempt === CODE_ATTEMPTS)
          throw new DomainError('unavailable', 'The phone could not be verified; try again');
      }
    }
  }

  private async submit(merchantId: string, userId: string, cause: EventMetadata): Promise<void> {
    try {
      for (const image of sandboxImages())
        await this.commandBus.execute(new StoreImage(merchantId, userId, image));
    } catch (error) {
      // The identity was submitted concurrently; a repeat is harmless.
      if (!(error instanceof DomainError) || error.code !== 'invalid_transition') throw error;
    }
    await this.commandBus.execute(new SubmitKyc(merchantId, userId, cause));
  }

  private async activation(merchantId: string, userId: string): Promise<ExistingUser> {
    const deadline = performance.now() + ACTIVATION_TIMEOUT_MS;
    while (performance.now() < deadline) {
      const user = await findApplicant(this.users, merchantId, userId);
      if (user.accountState === 'active') return user;
      await wait(POLL_MS);
    }
    throw new DomainError('unavailable', 'The onboarding is still in progress; try again');
  }
}

/** The minimum side of an image. */
const SIDE = 200;
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Grey squares. */
function sandboxImages(): IdentityImage[] {
  const bytes = greyPng();
  return REQUIRED_IMAGES.map((kind) => ({ kind, type: 'image/png', bytes }));
}

/** PNG (third edition), 5: 8 bits of grey per pixel; each row begins with its filter byte. */
function greyPng(): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(SIDE, 0);
  header.writeUInt32BE(SIDE, 4);
  header.writeUInt8(8, 8);
  const row = Buffer.concat([Buffer.of(0), Buffer.alloc(SIDE, 0x80)]);
  const pixels = deflateSync(Buffer.concat(Array<Buffer>(SIDE).fill(row)));
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, checksum]);
}
