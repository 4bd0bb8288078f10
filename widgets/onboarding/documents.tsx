import { useState } from 'preact/hooks';
import { Refusal, type ImageKind, type StepState } from './api.js';
import { Capture } from './capture.js';
import type { Photo } from './image.js';
import { useAct, useBack, usePage, type Page } from './page.js';
import { Alert, Heading, Progress, Submit, useFocusOnError } from './parts.js';
import { PhotoView } from './photo-view.js';
import type { DocumentKind } from './place.js';
import { describeTrouble } from './messages.js';

const KINDS = {
  passport: 'documentsPassport',
  id_card: 'documentsIdCard',
  licence: 'documentsLicence',
} as const;
const TITLES = { document_front: 'documentFront', document_back: 'documentBack', selfie: 'selfie' } as const;

interface DocumentsProps {
  readonly state: StepState;
  readonly document: DocumentKind | undefined;
  readonly notice: string | null;
  readonly chooseDocument: (kind: DocumentKind) => void;
  readonly follow: (state: StepState) => void;
  readonly changeDetails: () => void;
}

/** The step that selects a document, collects its photos and a selfie, and sends them. */
export function Documents({
  state,
  document,
  notice,
  chooseDocument,
  follow,
  changeDetails,
}: DocumentsProps) {
  const page = usePage();
  const { facts, api, format } = page;
  const arrived = state.images ?? [];
  const kind = document ?? (arrived.includes('document_front') ? 'id_card' : undefined);
  const [photos, setPhotos] = useState<Partial<Record<ImageKind, Photo>>>({});
  const [capturing, setCapturing] = useState<ImageKind | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [unchosen, setUnchosen] = useState({ is: false });
  const form = useFocusOnError(unchosen);
  const needed: readonly ImageKind[] =
    kind === 'passport' ? ['document_front', 'selfie'] : ['document_front', 'document_back', 'selfie'];
  const next = needed.find((each) => !arrived.includes(each));
  const titleOf = (each: ImageKind): string =>
    format(each === 'document_front' && kind === 'passport' ? 'documentPassport' : TITLES[each]);
  useBack(capturing !== null, () => setCapturing(null));

  const { busy, run } = useAct((refusal) => setTrouble(describeTrouble(format, facts.locale, refusal)));
  const send = async (): Promise<void> => {
    try {
      follow(await api.step('identity', {}));
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 422) throw error;
      // They are kept for a while only.
      follow(await api.step('state', {}));
      setTrouble(format('imagesMissing'));
    }
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    setTrouble(null);
    if (kind === undefined) return setUnchosen({ is: true });
    if (next === undefined) run(send);
    else setCapturing(next);
  };
  if (capturing !== null)
    return (
      <Capture
        key={capturing}
        kind={capturing}
        title={titleOf(capturing)}
        done={(photo, now) => {
          setPhotos({ ...photos, [capturing]: photo });
          setCapturing(needed.find((each) => now.images?.includes(each) !== true) ?? null);
          follow(now);
        }}
        back={() => setCapturing(null)}
      />
    );
  return (
    <form noValidate onSubmit={submit} ref={form}>
      <Progress at={2} />
      <Heading>{format('documentsHeading')}</Heading>
      <p class="lead">{format('documentsLead', { merchant: facts.merchantName })}</p>
      <p class="small">{describeRetention(page)}</p>
      <Alert kind={trouble === null ? 'info' : 'bad'}>{trouble ?? notice}</Alert>
      <fieldset class="kinds" role="radiogroup" aria-invalid={unchosen.is} aria-describedby="kinds-error">
        <legend>{format('documentsKind')}</legend>
        {(['passport', 'id_card', 'licence'] as const).map((each) => (
          <label key={each} class="kind">
            <input
              type="radio"
              name="document"
              value={each}
              checked={kind === each}
              onChange={() => {
                setUnchosen({ is: false });
                chooseDocument(each);
              }}
            />
            {format(KINDS[each])}
          </label>
        ))}
        <p class="error" id="kinds-error">
          {unchosen.is ? format('documentsUnchosen') : ''}
        </p>
      </fieldset>
      {kind !== undefined && (
        <ul class="photos" aria-label={format('documentsPhotos')}>
          {needed.map((each) => (
            <PhotoRow
              key={each}
              title={titleOf(each)}
              photo={photos[each]}
              hasPhoto={arrived.includes(each)}
              retake={() => setCapturing(each)}
            />
          ))}
        </ul>
      )}
      <Submit busy={busy}>{format(submitKey(next, arrived.length))}</Submit>
      <button type="button" class="quiet" onClick={changeDetails}>
        {format('documentsChange')}
      </button>
    </form>
  );
}

/** Describes who checks the photos and for how long they are kept. */
function describeRetention({ facts, format }: Page): string {
  const { identityProvider: provider, imageDays, locale } = facts;
  const day = new Intl.NumberFormat(locale, { style: 'unit', unit: 'day', unitDisplay: 'long' });
  const days = day.format(imageDays);
  if (provider === 'sandbox') return format('documentsKeptSandbox', { days });
  return provider === null
    ? format('documentsKept', { days })
    : format('documentsKeptBy', { days, provider });
}

function submitKey(next: ImageKind | undefined, count: number) {
  if (next === undefined) return 'documentsSubmit';
  return count === 0 ? 'documentsBegin' : 'documentsNext';
}

interface PhotoRowProps {
  readonly title: string;
  /** Not there after a reload. */
  readonly photo: Photo | undefined;
  readonly hasPhoto: boolean;
  readonly retake: () => void;
}

function PhotoRow({ title, photo, hasPhoto, retake }: PhotoRowProps) {
  const { format } = usePage();
  return (
    <li class={hasPhoto ? 'has-photo' : ''}>
      <span class="thumb" aria-hidden="true">
        {hasPhoto && photo !== undefined ? (
          <PhotoView photo={photo} label="" width={160} />
        ) : (
          <svg viewBox="0 0 24 24">
            <path d={hasPhoto ? 'M5 12.5l4.5 4.5L19 7.5' : 'M12 6v12M6 12h12'} />
          </svg>
        )}
      </span>
      <span class="what">
        <strong>{title}</strong>
        <span>{format(hasPhoto ? 'documentsDone' : 'documentsNeeded')}</span>
      </span>
      {hasPhoto && (
        <button
          type="button"
          class="small-button"
          onClick={retake}
          aria-label={`${format('documentsRetake')}: ${title}`}
        >
          {format('documentsRetake')}
        </button>
      )}
    </li>
  );
}
