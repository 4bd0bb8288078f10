import { Inject, Injectable, Optional } from '@nestjs/common';
import type { FileTransfer } from '@onfido/api';
import { failpoint } from '../../../platform/failpoints.js';
import type { KycOutcome } from '../onboardings/decisions.js';
import { missingImages, type IdentityImage } from './image-kind.js';
import { ProviderRefused, ProviderUnavailable } from '../../../platform/outbound/provider-errors.js';
import type { CallbackHeaders, IdentityRequest, IdentityVerifier } from '../providers/providers.ports.js';
import { Verifications, type Verification } from './verifications.store.js';
import { onboardingConfig } from '../onboarding.config.js';
import en from '../words/en.json' with { type: 'json' };
import { requiredNames } from '../providers/provider-client.adapter.js';
import {
  OnfidoApi,
  OnfidoRefused,
  type OnfidoAccount,
  type OnfidoObject,
  checkReason,
  imageReason,
  readWebhook,
} from './onfido-api.adapter.js';

const TIMES = {
  timeoutMs: 15_000,
  /** The lease of a process that opens a check. */
  claimSeconds: 120,
};
const ID = /^[A-Za-z0-9-]{8,64}$/;
const OPEN = ['in_progress', 'awaiting_applicant', 'paused', 'reopened'];

/** Verifies identities through Onfido (ADR 124). */
@Injectable()
export class OnfidoVerifier implements IdentityVerifier {
  readonly provider = 'onfido';
  private readonly api: OnfidoApi;

  constructor(
    @Inject(onboardingConfig.KEY) private readonly account: OnfidoAccount,
    private readonly verifications: Verifications,
    @Optional() private readonly times: typeof TIMES = TIMES,
  ) {
    this.api = new OnfidoApi(account, times.timeoutMs);
  }

  async decide(request: IdentityRequest): Promise<KycOutcome | 'under_review'> {
    const { verificationId, userId } = request;
    const verification = await this.verifications.open(verificationId, this.provider, userId);
    return this.toOutcome(await this.findCheck(verification, request));
  }

  /** Deletes the person's applicants. Onfido refuses this during a check, so the erasure is retried. */
  async forget(userId: string): Promise<void> {
    for (const { verification_id, applicant } of await this.verifications.ofUser(userId, this.provider)) {
      if (applicant !== null) await this.deleteApplicant(applicant);
      await this.verifications.forget(verification_id, this.provider);
    }
  }

  readCallback(headers: CallbackHeaders, body: Buffer): ReturnType<typeof readWebhook> {
    return readWebhook(this.account.onfidoWebhookToken, headers, body);
  }

  private async findCheck(verification: Verification, request: IdentityRequest): Promise<OnfidoObject> {
    const { verificationId } = request;
    const known = verification.check_reference;
    if (known !== null) {
      const found = await this.api.call((api, options) => api.findCheck(known, options));
      requireOwn(found, verificationId, verification.applicant);
      await request.deleteImages();
      return found;
    }
    const applicant = verification.applicant ?? (await this.createApplicant(request));
    const check = (await this.listedCheck(applicant)) ?? (await this.openCheck(applicant, request));
    requireOwn(check, verificationId, applicant);
    await this.verifications.checked(verificationId, this.provider, idIn(check));
    await request.deleteImages();
    failpoint('onboarding.images_deleted');
    return check;
  }

  /** Creates an applicant without personal data, because nothing deletes it after a crash at this point. */
  private async createApplicant({ verificationId, userId }: IdentityRequest): Promise<string> {
    const body = { first_name: 'Applicant', last_name: verificationId };
    const id = idIn(await this.api.call((api, options) => api.createApplicant(body, options)));
    failpoint('onboarding.applicant_created');
    const kept = await this.verifications.keepApplicant(verificationId, this.provider, userId, id);
    // Another process stored its applicant first, or the person is erased.
    if (kept !== id) await this.deleteApplicant(id);
    if (kept === null) throw new ProviderUnavailable('The person is erased: no data is sent to Onfido');
    return kept;
  }

  /** Returns the oldest check, or null. Each check is charged, so an existing check is reused. */
  private async listedCheck(applicant: string): Promise<OnfidoObject | null> {
    const checks = await this.api.list('checks', (api, options) => api.listChecks(applicant, options));
    const time = (check: OnfidoObject): string => String(check['created_at']);
    return [...checks].sort((a, b) => (time(a) < time(b) ? -1 : 1))[0] ?? null;
  }

  /** Uploads the data and opens the check. A failure before the check is requested releases the lease. */
  private async openCheck(applicant: string, request: IdentityRequest): Promise<OnfidoObject> {
    const { verificationId } = request;
    const { claimSeconds } = this.times;
    const claimed = performance.now();
    if (!(await this.verifications.claimCheck(verificationId, this.provider, claimSeconds)))
      throw new ProviderUnavailable('Onfido may be opening the check already, for another attempt');
    try {
      await this.describe(applicant, request);
      await this.upload(applicant, request);
      failpoint('onboarding.images_uploaded');
    } catch (error) {
      await this.verifications.releaseCheck(verificationId, this.provider);
      throw error;
    }
    // A process whose lease has ended may have opened a check.
    const listed = await this.listedCheck(applicant);
    if (listed !== null) return listed;
    if (performance.now() - claimed > (claimSeconds * 1000) / 2)
      throw new ProviderUnavailable('Onfido took too long for this process to open the check');
    const body = {
      applicant_id: applicant,
      report_names: ['document' as const, 'facial_similarity_photo' as const],
      tags: [verificationId],
      privacy_notices_read_consent_given: true,
    };
    const check = await this.api.call((api, options) => api.createCheck(body, options));
    failpoint('onboarding.check_opened');
    return check;
  }

  private async describe(applicant: string, { details }: IdentityRequest): Promise<void> {
    const applied = { ...requiredNames(details), dob: details.date_of_birth };
    await this.api.call(
      (api, options) => api.updateApplicant(applicant, applied, options),
      () => en.reasonName,
    );
  }

  /** Uploads all images, even those of an earlier attempt, because a check reads the newest ones. */
  private async upload(applicant: string, request: IdentityRequest): Promise<void> {
    const images = await request.images();
    if (missingImages(images.map(({ kind }) => kind)).length > 0) throw new ProviderRefused(en.reasonGone);
    for (const image of images) await this.uploadImage(applicant, image);
  }

  private async uploadImage(applicant: string, { kind, type, bytes }: IdentityImage): Promise<void> {
    const { FileTransfer } = await import('@onfido/api');
    const extension = type === 'image/png' ? 'png' : 'jpg';
    const file: FileTransfer = new FileTransfer(bytes, `${kind}.${extension}`);
    const side = kind === 'document_back' ? 'back' : 'front';
    const unused = [undefined, undefined, undefined] as const;
    const uploaded = await this.api.call(
      (api, options) =>
        kind === 'selfie'
          ? api.uploadLivePhoto(applicant, file, true, options)
          : api.uploadDocument('unknown', applicant, file, extension, side, ...unused, options),
      (about) => imageReason(kind, about),
    );
    idIn(uploaded);
  }

  private async toOutcome(check: OnfidoObject): Promise<KycOutcome | 'under_review'> {
    const { status, result } = check;
    if (typeof status === 'string' && OPEN.includes(status)) return 'under_review';
    if (status === 'withdrawn') return { passed: false, reason: en.reasonVerification };
    if (status !== 'complete')
      throw new ProviderUnavailable('Onfido responds with an unknown status of the check');
    if (result === 'clear') return { passed: true };
    if (result !== 'consider')
      throw new ProviderUnavailable('Onfido responds with an unknown result of the check');
    const reports = await this.api.list('reports', (api, options) => api.listReports(idIn(check), options));
    return { passed: false, reason: checkReason(reports) };
  }

  private async deleteApplicant(id: string): Promise<void> {
    try {
      await this.api.call((api, options) => api.deleteApplicant(id, options));
    } catch (error) {
      if (!(error instanceof OnfidoRefused)) throw error;
      if (error.status === 404 || error.status === 410) return;
      throw new ProviderUnavailable(
        error.type === 'deletion_incomplete_checks'
          ? 'Onfido deletes no applicant during a check'
          : `Onfido does not delete an applicant (${error.status})`,
      );
    }
  }
}

/** Verifies the tag and applicant of the check, because a stored id does not prove whose check it is. */
function requireOwn(
  { applicant_id, tags }: OnfidoObject,
  verificationId: string,
  applicant: string | null,
): void {
  const isTagged = Array.isArray(tags) && tags.includes(verificationId);
  if (!isTagged || applicant_id !== applicant)
    throw new ProviderUnavailable('The check at Onfido belongs to another verification');
}

function idIn({ id }: OnfidoObject): string {
  if (typeof id === 'string' && ID.test(id)) return id;
  throw new ProviderUnavailable('Onfido returned no id');
}
