import { randomUUID } from 'node:crypto';
import { Refusal } from '../../exchange/provider-server.js';

export class Refused extends Refusal {
  constructor(status: number, type: string, message: string, fields: Readonly<Record<string, unknown>> = {}) {
    super(status, { error: { type, message, fields } });
  }
}

export interface Applicant {
  readonly id: string;
  fields: Record<string, unknown>;
  readonly documents: { id: string; side: string; type: string; file_size: number }[];
  readonly livePhotos: { id: string; file_size: number }[];
  readonly checks: Check[];
}
export interface Check {
  readonly id: string;
  readonly applicant_id: string;
  readonly created_at: string;
  readonly tags: readonly string[];
  status: string;
  result: string | null;
  reports: object[];
}

type Json = Record<string, unknown>;
type Body = Readonly<Json>;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Bytes, by paths/documents.yaml and paths/live_photos.yaml of onfido-openapi-spec. */
const DOCUMENT_BYTES = [2048, 3 * 1_048_576] as const;
const PHOTO_BYTES = [32_768, 10 * 1_048_576] as const;

/** A picture with this text has no face. */
export const NO_FACE = 'no face is here';

/** Onfido's applicants, their pictures and checks, by API 3.6. */
export class OnfidoRecords {
  readonly applicants = new Map<string, Applicant>();
  readonly deleted: string[] = [];

  get checks(): Check[] {
    return [...this.applicants.values()].flatMap(({ checks }) => checks);
  }

  createApplicant(body: Body): Json {
    requireApplicant(body, ['first_name', 'last_name']);
    const applicant: Applicant = {
      id: randomUUID(),
      fields: { ...body },
      documents: [],
      livePhotos: [],
      checks: [],
    };
    this.applicants.set(applicant.id, applicant);
    return { id: applicant.id, ...body };
  }

  updateApplicant(id: string, body: Body): Json {
    const applicant = this.find(id);
    requireApplicant(body, []);
    Object.assign(applicant.fields, body);
    return { id, ...applicant.fields };
  }

  deleteApplicant(id: string): void {
    const { checks } = this.find(id);
    if (checks.some(({ status }) => status !== 'complete'))
      throw new Refused(
        422,
        'deletion_incomplete_checks',
        'Applicants with checks in progress cannot be deleted.',
      );
    this.applicants.delete(id);
    this.deleted.push(id);
  }

  async addDocument(form: FormData): Promise<Json> {
    const applicant = this.find(field(form, 'applicant_id'));
    const type = field(form, 'type');
    const side = form.get('side') === null ? 'front' : field(form, 'side');
    if (side !== 'front' && side !== 'back') throw invalid('side', 'is not included in the list');
    const bytes = await picture(form, DOCUMENT_BYTES);
    const document = { id: randomUUID(), side, type, file_size: bytes.length };
    applicant.documents.push(document);
    return document;
  }

  async addLivePhoto(form: FormData): Promise<Json> {
    const applicant = this.find(field(form, 'applicant_id'));
    const bytes = await picture(form, PHOTO_BYTES);
    if (form.get('advanced_validation') !== 'false' && bytes.includes(NO_FACE))
      throw invalid(
        'face_detection',
        'Face not detected in image. Please note this validation can be disabled',
      );
    const photo = { id: randomUUID(), file_size: bytes.length };
    applicant.livePhotos.push(photo);
    return photo;
  }

  createCheck(body: Body, at: number): Json {
    const { applicant_id, tags } = body;
    const applicant = this.find(String(applicant_id));
    if (applicant.fields['dob'] === undefined) throw invalid('applicant', 'dob is missing');
    if (applicant.documents.length === 0) throw invalid('documents', 'no document was uploaded');
    if (applicant.livePhotos.length === 0) throw invalid('live_photos', 'no live photo was uploaded');
    const check: Check = {
      id: randomUUID(),
      applicant_id: applicant.id,
      created_at: new Date(at).toISOString(),
      tags: tags as string[],
      status: 'in_progress',
      result: null,
      reports: [],
    };
    applicant.checks.push(check);
    return jsonOf(check);
  }

  check(id: string): Check {
    const check = this.checks.find((each) => each.id === id);
    if (check === undefined)
      throw new Refused(404, 'resource_not_found', 'Could not find the requested resource');
    return check;
  }

  find(id: string): Applicant {
    if (!UUID.test(id)) throw invalid('applicant_id', 'is invalid');
    const applicant = this.applicants.get(id);
    if (applicant !== undefined) return applicant;
    if (this.deleted.includes(id)) throw new Refused(410, 'applicant_deleted', 'Applicant was deleted');
    throw new Refused(404, 'resource_not_found', 'Could not find the requested resource');
  }
}

export function jsonOf({ reports, ...check }: Check): Json {
  return { ...check, report_ids: reports.map(() => randomUUID()), href: `/v3.6/checks/${check.id}` };
}

function requireApplicant(body: Body, required: readonly string[]): void {
  for (const name of required) if (typeof body[name] !== 'string') throw invalid(name, "can't be blank");
  for (const name of ['first_name', 'last_name']) {
    const value = body[name];
    if (value !== undefined && (typeof value !== 'string' || value === '' || /[\^!#$%*=<>;{}"]/.test(value)))
      throw invalid(name, `invalid characters in ${String(value)}`);
  }
  const { dob } = body;
  if (dob !== undefined && (typeof dob !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(dob)))
    throw invalid('dob', 'is invalid');
}

async function picture(form: FormData, [least, most]: readonly [number, number]): Promise<Buffer> {
  const file = form.get('file');
  if (file === null || typeof file === 'string') throw invalid('file', "can't be blank");
  const bytes = Buffer.from(await file.arrayBuffer());
  if (!/\.(jpe?g|png|pdf)$/.test(file.name)) throw invalid('file_type', 'must be jpg, png or pdf');
  const isJpeg = bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]));
  const isPng = bytes.subarray(0, 4).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47]));
  if (!isJpeg && !isPng) throw invalid('file_type', 'must be jpg, png or pdf');
  if (bytes.length < least || bytes.length > most)
    throw invalid('file_size', `must be between ${least} and ${most} bytes`);
  return bytes;
}

function field(form: FormData, name: string): string {
  const value = form.get(name);
  if (typeof value !== 'string') throw invalid(name, "can't be blank");
  return value;
}

function invalid(name: string, message: string): Refused {
  return new Refused(422, 'validation_error', 'There was a validation error on this request', {
    [name]: [message],
  });
}
