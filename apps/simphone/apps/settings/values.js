// Where a preference's value lies. Each has `get()`, a promise of text, and `put(text)`.

// A setting of Android's, under its own key; `fallback` is what holds while nothing is set.
export const setting = (namespace, key, fallback = "0") => ({
  get: async () => (await phone.settings.get(namespace, key)) ?? fallback,
  put: (value) => phone.settings.put(namespace, key, value),
});

// Something for which Android has no key, kept by the app: state.preferences.
export const kept = (key, fallback = "0") => ({
  get: async () => phone.state.preferences[key] ?? fallback,
  put: (value) => {
    phone.state.preferences[key] = value;
    return phone.save();
  },
});

export const property = (key) => ({ get: () => phone.property(key) });
export const fixed = (text) => ({ get: async () => text });
