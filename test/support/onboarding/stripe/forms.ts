/** A form of Stripe as an object: `individual[dob][day]=1`; null for a list or what is no such form. */
export type Form = { [name: string]: string | Form };

export function formOf(text: string): Form {
  const form: Form = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const [first, ...rest] = name.split(/[[\]]+/).filter((part) => part !== '');
    const path = [first ?? '', ...rest];
    let into = form;
    for (const part of path.slice(0, -1)) {
      into[part] ??= {};
      into = into[part] as Form;
    }
    into[path.at(-1)!] = value;
  }
  return form;
}

/** `individual[dob][day]` of each value. */
export function namesOf(form: Form, prefix = ''): string[] {
  return Object.entries(form).flatMap(([name, value]) => {
    const full = prefix === '' ? name : `${prefix}[${name}]`;
    return typeof value === 'string' ? [full] : namesOf(value, full);
  });
}
