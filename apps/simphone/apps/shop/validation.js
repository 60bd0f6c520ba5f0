// What is wrong with the fields of the checkout: text for the person, or "" where nothing is.
function luhn(digits) {
  const sum = [...digits].reverse().reduce((all, digit, at) => {
    const value = at % 2 ? Number(digit) * 2 : Number(digit);
    return all + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

function expired(text) {
  const [month, year] = text.split("/").map(Number);
  const now = new Date(phone.now());
  return (2000 + year) * 12 + month < now.getFullYear() * 12 + now.getMonth() + 1;
}

export const PROBLEMS = {
  name: (text) => (text.length < 2 ? "Enter your full name" : ""),
  street: (text) => (text ? "" : "Enter street and number"),
  city: (text) => (text ? "" : "Enter a city"),
  postcode: (text) => (/^[A-Za-z0-9][A-Za-z0-9 -]{2,8}$/.test(text) ? "" : "Enter a valid postcode"),
  phone: (text) => (text === "" || /^\+?[\d\s()/-]{6,}$/.test(text) ? "" : "Enter a valid phone number"),
  card_number(text) {
    const digits = text.replace(/[\s-]/g, "");
    return /^\d{13,19}$/.test(digits) && luhn(digits) ? "" : "Enter a valid card number";
  },
  expiry: (text) =>
    !/^(0[1-9]|1[0-2])\/\d\d$/.test(text) ? "Enter as MM/YY" : expired(text) ? "This card has expired" : "",
  cvc: (text) => (/^\d{3,4}$/.test(text) ? "" : "Enter the 3 digits on the back"),
};
